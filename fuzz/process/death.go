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

// Death describes how a worker process ended during a run.
type Death struct {
	Cause     string   // one line
	Invariant string   // the violated invariant: ActorCrash or Stuck
	Shape     []string // the panic and upstream's functions, innermost first
	Text      string   // the output of the process
	Ours      bool     // ipamsim's own code or the machine failed
	Killed    bool     // killed from outside, for example by the kernel
}

// classify determines from its exit status and stderr why a process died.
func classify(end error, stderr string) *Death {
	d := &Death{Cause: "it exited without a message", Invariant: invariant.ActorCrash.Name, Text: stderr}
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

// ours is our own code, and the embedded etcd.
var ours = regexp.MustCompile(`^(ipamsim|go\.etcd\.io/bbolt|go\.etcd\.io/etcd/server)[/.]`)

// machine matches the last message of a process when the machine lacks a resource: from etcd (see
// sim/etcd), from the kernel by way of a failed call, or from Go's runtime. Memory is not
// included: a run that takes all memory is a finding.
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

// framesMax functions distinguish one panic from another. The outer functions are only the path to
// them, and may differ.
const framesMax = 4

var numbers = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// functions returns the functions in the first goroutine of a traceback that are not the runtime's.
func functions(lines []string) []string {
	var out []string
	for _, l := range lines {
		if l == "" && len(out) > 0 {
			break
		}
		end := strings.LastIndexByte(l, '(') // the beginning of the arguments
		if end < 0 || !strings.HasSuffix(l, ")") || strings.ContainsAny(l[:1], " \t") || !strings.Contains(l[:end], "/") {
			continue // of the standard library or the runtime, or not a function
		}
		out = append(out, l[:end])
	}
	return out
}

// plain returns a message without numbers and addresses.
func plain(s string) string { return numbers.ReplaceAllString(s, "#") }
