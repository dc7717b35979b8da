package process

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"ipamsim/model/invariant"
)

// Death is how a worker process ended in the middle of a run.
type Death struct {
	Cause     string   // one line
	Invariant string   // the invariant that it violates: ActorCrash or Stuck
	Shape     []string // the panic and upstream's functions, innermost first
	Text      string   // as the process wrote it
	Ours      bool     // ipamsim's own code failed, or the machine under it
	Killed    bool     // from outside, by the kernel as likely as by anybody
}

// classify says from its end and its stderr why a process died.
func classify(end error, stderr string) *Death {
	d := &Death{Cause: "it ended without a word", Invariant: invariant.ActorCrash.Name, Text: stderr}
	var exit *exec.ExitError
	if errors.As(end, &exit) {
		d.Cause = exit.Error()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL {
			d.Cause, d.Killed = "killed by SIGKILL, as by the kernel when memory runs out", true
		}
	}
	lines := strings.Split(stderr, "\n")
	at := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ")
	})
	if at < 0 {
		d.Shape = []string{plain(d.Cause)}
		return d
	}
	d.Cause, d.Text = lines[at], strings.Join(lines[at:], "\n")
	d.Shape = []string{plain(d.Cause)}
	frames := functions(lines[at:])
	d.Ours = len(frames) > 0 && ours.MatchString(frames[0]) || machine.MatchString(d.Cause)
	for _, f := range frames[:min(len(frames), framesMax)] {
		if !strings.HasPrefix(f, "ipamsim/") {
			d.Shape = append(d.Shape, f)
		}
	}
	return d
}

// ours is our own code, and the etcd that we embed.
var ours = regexp.MustCompile(`^(ipamsim|go\.etcd\.io/bbolt|go\.etcd\.io/etcd/server)[/.]`)

// machine is what a process says at its end when the machine has no more of
// something: etcd, as sim/etcd lets it speak, the kernel through whoever asked it,
// or Go's runtime. Memory is not among it: who takes all of it is a finding.
var machine = regexp.MustCompile(`^fatal error: etcd: |no space left on device|too many open files|newosproc|failed to create new OS thread`)

func stuckDeath(cause, stacks string) *Death {
	d := &Death{Cause: cause, Invariant: invariant.Stuck.Name, Text: cause + "\n\n" + stacks, Shape: []string{"stuck"}}
	for _, f := range functions(strings.Split(stacks, "\n")) {
		if !strings.HasPrefix(f, "ipamsim/") && len(d.Shape) < framesMax {
			d.Shape = append(d.Shape, f)
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
