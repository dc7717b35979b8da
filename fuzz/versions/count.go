package versions

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"ipamsim/model"
)

// Count is the result of runs of a scenario by one program.
type Count struct {
	Runs   int // with a verdict
	Broken int // with one of the scenario's violations
	Err    string
	Cut    bool   // interrupted, with the reason in Err
	Lacks  string // what the case needs and the version does not support
}

// Add returns the sum of two counts.
func (n Count) Add(more Count) Count {
	n.Runs, n.Broken = n.Runs+more.Runs, n.Broken+more.Broken
	n.Cut = n.Cut || more.Cut
	n.Err, n.Lacks = cmp.Or(n.Err, more.Err), cmp.Or(n.Lacks, more.Lacks)
	return n
}

// Case is a scenario, and what to count.
type Case struct {
	File     string
	Name     string
	Manager  string // module@version of the release for which it was written
	Recorded bool   // it has a schedule
	// Violations are codes of invariants: a run counts if it violates one of them; none: if it
	// violates any invariant.
	Violations []string
}

// breaks reports whether a run violated one of the case's invariants.
func (c *Case) breaks(violated []string) bool {
	if len(c.Violations) == 0 {
		return len(violated) > 0
	}
	return slices.ContainsFunc(violated, func(v string) bool { return slices.Contains(c.Violations, v) })
}

// outcome is the relevant part of a line of "ipamsim run --json".
type outcome struct {
	Verdict    string
	Violations []struct{ Invariant string }
}

// Run counts the runs of a case by v's program with the seeds from to to, and the run with the case's
// own seed or schedule.
func (v *Version) Run(ctx context.Context, c *Case, from, to int) Count {
	n := v.run(ctx, c, to-from+1, "run", "--seeds", fmt.Sprintf("%d-%d", from, to))
	if from > 1 || n.Err != "" || n.Lacks != "" {
		return n
	}
	if !c.Recorded {
		return n.Add(v.run(ctx, c, 1, "run"))
	}
	if own := v.run(ctx, c, 1, "replay"); own.Broken > 0 { // otherwise the schedule may not fit this version
		n = n.Add(own)
	}
	return n
}

// run executes v's program for a number of runs.
func (v *Version) run(ctx context.Context, c *Case, runs int, args ...string) Count {
	cmd := exec.CommandContext(ctx, v.Program, append(args, c.File, "--json", "-", "--other-upstream")...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return Count{Err: err.Error(), Cut: ctx.Err() != nil}
	}
	// A process that the program started may keep the pipe open after the program's end.
	stop := context.AfterFunc(ctx, func() { _ = out.Close() })
	defer stop()
	n, unproved, err := c.count(out)
	_, _ = io.Copy(io.Discard, out)
	switch ended := cmd.Wait(); {
	case ctx.Err() != nil:
		n.Err, n.Cut = ctx.Err().Error(), true
	case err != nil:
		n.Err = err.Error()
	case unproved > 0 && n.Runs+unproved == runs: // the program exits with 2
	case ended != nil && cmd.ProcessState.ExitCode() != 1:
		n.Err = last(said.String(), ended)
		if _, what, ok := strings.Cut(said.String(), model.NotInRelease); ok {
			n.Err = ""
			n.Lacks, _, _ = strings.Cut(what, "\n")
		}
	}
	return n
}

// count reads the runs of a case. unproved are runs that reached a limit, or that lack an event
// required by the scenario.
func (c *Case) count(in io.Reader) (n Count, unproved int, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20) // a run with thousands of violations
	for lines.Scan() {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue
		}
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return n, unproved, err
		}
		var violated []string
		for _, v := range o.Violations {
			violated = append(violated, v.Invariant)
		}
		if c.breaks(violated) {
			n.Runs, n.Broken = n.Runs+1, n.Broken+1
		} else if o.Verdict == "pass" || o.Verdict == "fail" {
			n.Runs++
		} else {
			unproved++
		}
	}
	return n, unproved, lines.Err()
}

// last returns the last line of a program's stderr.
func last(said string, ended error) string {
	lines := strings.FieldsFunc(said, func(r rune) bool { return r == '\n' })
	if len(lines) == 0 {
		return ended.Error()
	}
	return lines[len(lines)-1]
}
