package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/process"
	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// ask is a request from the gate to a worker process: one run.
type ask struct {
	File     string
	Seed     uint64
	Recorded bool       `json:",omitempty"` // replay the schedule in the file instead of running a seed
	Store    string     // scenarios.Etcd or scenarios.Memory
	Story    bool       `json:",omitempty"` // record the timeline of each violation
	Hunt     *candidate `json:",omitempty"` // run a candidate of a search instead of a file
}

// answer is the reply to ask.
type answer struct {
	Run          baseline.Run
	Cost         reports.Cost             `json:",omitempty"`
	Seen         map[string]baseline.Seen `json:",omitempty"`
	Defect       string                   `json:",omitempty"` // why ipamsim failed
	Repeated     reports.Repeated
	News         []News   `json:",omitempty"` // of a search
	Tried        []string `json:",omitempty"` // known signatures whose failure was shrunk
	Trials       int      `json:",omitempty"` // the runs that this took
	Hung, Stacks string   `json:",omitempty"`
}

// Stuck returns why the run got stuck, for process.Answer.
func (a *answer) Stuck() (cause, stacks string) { return a.Hung, a.Stacks }

// run returns the run with its cost and violations.
func (a *answer) run() baseline.Run {
	r := a.Run
	r.Cost, r.Seen = a.Cost, a.Seen
	return r
}

// ServeWorker does the runs that a gate requests until its input ends, with an etcd in dir.
func ServeWorker(ctx context.Context, managers scenarios.Managers, in io.Reader, out io.Writer, dir string) error {
	runner, err := scenarios.NewRunnerIn(dir, process.Die)
	if err != nil {
		return err
	}
	err = process.Serve(in, out, func(q *ask) process.Answer {
		if q.Hunt != nil {
			return attempt(ctx, managers, runner, q.Hunt)
		}
		return do(ctx, managers, runner, q)
	})
	return errors.Join(err, runner.Close())
}

// BeforeRun is a hook for tests, which kill the process in it.
var BeforeRun = func(file string, seed uint64) {}

func do(ctx context.Context, managers scenarios.Managers, runner *scenarios.Runner, q *ask) *answer {
	a := &answer{}
	s, err := managers.Load(q.File)
	if err != nil {
		a.Defect = err.Error()
		return a
	}
	o := scenarios.Options{Store: q.Store, Recorded: q.Recorded}
	if !q.Recorded {
		o.Seed = &q.Seed
	}
	if !q.Recorded && q.Seed != s.Seed() {
		s = s.WithSimpleControllers()
	}
	BeforeRun(q.File, q.Seed)
	var rep *reports.Report
	for n := 1; ; n++ {
		if rep, err = runner.Run(ctx, s, o); err != nil || rep.Foreign == 0 || n == wakesMax {
			break
		}
		a.Repeated.Woken++
	}
	var stuck *sim.Stuck
	switch {
	case errors.As(err, &stuck):
		a.Hung, a.Stacks = stuck.Error(), stuck.Stacks
		return a
	case errors.Is(err, strategy.ErrDiverged):
		a.Run = runOf(rep)
		a.Run.Cut = err.Error()
		return a
	case err != nil:
		a.Defect = err.Error()
		return a
	case hermetic.Enabled && rep.Foreign != 0:
		a.Defect = fmt.Sprintf("%d wake-ups from outside the bubble: it may not repeat", rep.Foreign)
		return a
	}
	a.Run, a.Cost = runOf(rep), reports.CostOf(rep)
	a.Seen = seen(rep, q.Story)
	return a
}

// wakesMax is how often a run that was disturbed from outside is repeated. About one run in a
// thousand is disturbed.
const wakesMax = 3

func runOf(rep *reports.Report) baseline.Run {
	r := baseline.Run{Seed: rep.Seed, Digest: rep.Digest, Store: rep.StoreDigest, Cut: rep.Reason}
	if rep.Trace != nil {
		r.Steps = len(rep.Trace.Steps)
	}
	for _, v := range rep.Violations {
		r.Violated = append(r.Violated, v.Invariant)
	}
	slices.Sort(r.Violated)
	r.Violated = slices.Compact(r.Violated)
	return r
}

// seen returns the first violation of each invariant.
func seen(rep *reports.Report, story bool) map[string]baseline.Seen {
	out := map[string]baseline.Seen{}
	for i := range rep.Violations {
		v := &rep.Violations[i]
		if _, have := out[v.Invariant]; have {
			continue
		}
		s := baseline.Seen{Severity: string(v.Severity), Message: v.Message, Step: v.Step}
		if story {
			s.Timeline, s.Calls = timeline.Of(rep, v), calls(cause.Of(rep, v))
		}
		out[v.Invariant] = s
	}
	return out
}

// calls returns the links of a cause that are in the address manager's code, in the order of their
// steps.
func calls(c *cause.Cause) (out []baseline.Call) {
	for i := range c.Links {
		if l := &c.Links[i]; len(l.Site.Frames) > 0 {
			out = append(out, baseline.Call{Step: l.Step, Text: l.Describe(), Site: l.Site})
		}
	}
	slices.SortStableFunc(out, func(a, b baseline.Call) int { return cmp.Compare(a.Step, b.Step) })
	return out
}
