package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/scenarios"
)

// obituary is what a death looks like, beyond its one line.
type obituary struct {
	invariant string   // actor-crash or stuck
	shape     []string // the panic and upstream's functions, innermost first
	text      string   // as the process wrote it
	ours      bool     // ipamsim's own code failed
	killed    bool     // from outside, by the kernel as likely as by anybody
}

// autopsy says from its end and its stderr why a process died.
func autopsy(end error, stderr string) *Death {
	d := &Death{Cause: "it ended without a word", obituary: obituary{invariant: "actor-crash", text: stderr}}
	var exit *exec.ExitError
	if errors.As(end, &exit) {
		d.Cause = exit.Error()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL {
			d.Cause, d.killed = "killed by SIGKILL, as by the kernel when memory runs out", true
		}
	}
	lines := strings.Split(stderr, "\n")
	at := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ")
	})
	if at < 0 {
		d.shape = []string{plain(d.Cause)}
		return d
	}
	d.Cause, d.text = lines[at], strings.Join(lines[at:], "\n")
	d.shape = []string{plain(d.Cause)}
	frames := functions(lines[at:])
	d.ours = len(frames) > 0 && strings.HasPrefix(frames[0], "ipamsim/")
	for _, f := range frames[:min(len(frames), framesMax)] {
		if !strings.HasPrefix(f, "ipamsim/") {
			d.shape = append(d.shape, f)
		}
	}
	return d
}

func stuckDeath(cause, stacks string) *Death {
	d := &Death{Cause: cause, obituary: obituary{invariant: "stuck", text: cause + "\n\n" + stacks, shape: []string{"stuck"}}}
	for _, f := range functions(strings.Split(stacks, "\n")) {
		if !strings.HasPrefix(f, "ipamsim/") && len(d.shape) < framesMax {
			d.shape = append(d.shape, f)
		}
	}
	return d
}

// framesMax functions tell one panic from another; the deeper ones are the way
// there, which may differ.
const framesMax = 4

var numbers = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// functions of the first goroutine of a traceback that are not the runtime's.
func functions(lines []string) []string {
	var out []string
	for _, l := range lines {
		if l == "" && len(out) > 0 {
			break
		}
		end := strings.LastIndexByte(l, '(') // of the arguments
		if end < 0 || !strings.HasSuffix(l, ")") || strings.ContainsAny(l[:1], " \t") || !strings.Contains(l[:end], "/") {
			continue // the standard library's, the runtime's, or no function
		}
		out = append(out, l[:end])
	}
	return out
}

// plain is a message without numbers and addresses.
func plain(s string) string { return numbers.ReplaceAllString(s, "#") }

// finding is what a confirmed death comes to: the world that it happened in, to
// be run once more.
func (d *Death) finding(spec Spec, sc *scenarios.Scenario) (*finding.Finding, error) {
	upstream := sc.Upstream()
	f := *sc
	s := &f.Doc.Spec
	s.Seed = &d.Seed
	if spec.Strategy != "" {
		s.Strategy = spec.Strategy
	}
	s.Expect, s.Schedule = &scenarios.Expect{Violations: []string{d.invariant}}, nil
	body, err := f.YAML()
	if err != nil {
		return nil, err
	}
	sentence := fmt.Sprintf("The process died in the middle of the run: %s.", d.Cause)
	if d.invariant == "stuck" {
		sentence = fmt.Sprintf("The run never ended: %s.", d.Cause)
	}
	var head strings.Builder
	fmt.Fprintf(&head, "# %s\n# Upstream: %s\n# Run it: ipamsim run FILE\n#\n", sentence, upstream)
	lines := strings.Split(strings.TrimSpace(d.text), "\n")
	for _, l := range lines[:min(len(lines), obituaryMax)] {
		fmt.Fprintf(&head, "# %s\n", strings.Map(printable, l))
	}
	return &finding.Finding{
		Fingerprint: digest([]byte(d.invariant + "\n" + strings.Join(d.shape, "\n"))), Invariant: d.invariant, Severity: model.Critical, Upstream: upstream,
		Shape: d.shape, Sentence: sentence, YAML: append([]byte(head.String()), body...),
	}, nil
}

// obituaryMax lines of a traceback stand at the top of a finding.
const obituaryMax = 60

// digest is 12 hexadecimal digits.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

func printable(r rune) rune {
	if r == '\t' {
		return ' '
	}
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}
