package remedy

import (
	"context"
	"slices"
	"time"

	"ipamsim/model"
)

// Result is what simulation found about a problem.
type Result struct {
	*Problem
	Best  *Outcome   // the first remedy that passed; nil: none did
	Tried []*Outcome // remedies that did not pass, in order
	// With is the problem whose remedy also reaches the goals of this one; nil: none.
	With *Problem
	// Itself: the goals are reached after a while without any action.
	Itself bool
	// Untried is why no remedy was simulated.
	Untried Untried
	Reason  string // the error, if Untried is Broken
	// Left is the result of leaving the problem to the controller of Advice; nil: not known.
	Left *Left
}

// Left is the result of leaving a cluster to a controller that should have acted.
type Left struct {
	Took time.Duration // virtual
	Gone bool          // all goals are reached
	New  []model.Violation
}

// Untried is why a remedy was not simulated.
type Untried int

// The reasons.
const (
	Simulated Untried = iota
	TooLarge          // the cluster has more pods than Bound.Pods
	OutOfTime         // the time limit was reached
	Broken            // the run did not finish
)

// Bound limits what is simulated.
type Bound struct {
	Pods int // a cluster with more pods is not simulated
	// Progress is called before each problem with its number, from 1. It may be nil.
	Progress func(problem, of int)
}

// Prove simulates the remedies of each problem, each from the cluster as it is, until one
// passes or ctx ends. A problem that the remedy of an earlier one fixes is not simulated
// again.
//
// The results are in the order of the problems. Together is the outcome of all remedies that
// passed, one after another in that order; nil if fewer than two passed or time was up.
func (t *Simulator) Prove(ctx context.Context, problems []Problem, b Bound) (results []Result, together *Outcome) {
	results = make([]Result, len(problems))
	stop := Simulated
	if len(t.before.Truth.Sandboxes) > b.Pods {
		stop = TooLarge
	}
	for i := range problems {
		r := &results[i]
		r.Problem = &problems[i]
		if r.With = takenAlong(results[:i], r.Problem); r.With != nil || len(r.Try) == 0 {
			continue
		}
		if r.Untried = stop; stop != Simulated {
			continue
		}
		if b.Progress != nil {
			b.Progress(i+1, len(problems))
		}
		t.try(ctx, r)
		if r.Untried == OutOfTime {
			stop = OutOfTime
		}
	}
	if stop == Simulated {
		together = t.together(ctx, results)
		t.leave(ctx, results)
	}
	return results, together
}

// leave runs each controller that should have acted for the longest time that it may need,
// and records which goals it reaches. If the controller runs in the cluster and the goals are
// violated all the same, the cause is another one.
func (t *Simulator) leave(ctx context.Context, results []Result) {
	left := map[*Controller][]*Result{}
	var order []*Controller
	for i := range results {
		if a := results[i].Advice; a != nil && a.Controller.Daemon != "" && a.Within > 0 && len(results[i].Goals) > 0 {
			if left[a.Controller] == nil {
				order = append(order, a.Controller)
			}
			left[a.Controller] = append(left[a.Controller], &results[i])
		}
	}
	for _, c := range order {
		t.leaveTo(ctx, c, left[c])
	}
}

func (t *Simulator) leaveTo(ctx context.Context, c *Controller, results []*Result) {
	var took time.Duration
	for _, r := range results {
		took = max(took, r.Advice.Within)
	}
	if t.wait(ctx) != nil {
		return
	}
	a, err := t.simulate(ctx, &Script{facts: t.facts, now: took}, c)
	if err != nil {
		return
	}
	fresh := (&course{t.before, t.idle}).fresh(a)
	for _, r := range results {
		r.Left = &Left{Took: took, New: fresh, Gone: len(r.left(a)) == 0}
	}
}

// try simulates the remedies of a problem until one passes.
func (t *Simulator) try(ctx context.Context, r *Result) {
	fail := func(err error) {
		r.Untried, r.Reason = Broken, err.Error()
		if interrupted(err) || ctx.Err() != nil {
			r.Untried, r.Reason = OutOfTime, ""
		}
	}
	if err := t.wait(ctx); err != nil {
		fail(err)
		return
	}
	if r.Itself = len(r.Goals) > 0 && len(r.left(t.idle)) == 0; r.Itself {
		return
	}
	for i := range r.Try {
		o, err := t.Simulate(ctx, r.Problem, &r.Try[i])
		if err != nil {
			fail(err)
			return
		}
		if o.Safe() {
			r.Best = o
			return
		}
		r.Tried = append(r.Tried, o)
	}
}

// takenAlong returns the earlier problem whose remedy reaches all goals of p; nil if there
// is none.
func takenAlong(done []Result, p *Problem) *Problem {
	for i := range done {
		best := done[i].Best
		if best == nil || len(p.Goals) == 0 {
			continue
		}
		all := true
		if p.Holds != nil {
			all = !p.Holds(best.end)
		} else {
			gone := known(best.Gone)
			for k := range p.Goals {
				all = all && gone[identity(&p.Goals[k])]
			}
		}
		if all {
			return done[i].Problem
		}
	}
	return nil
}

// together simulates all remedies that passed, one after another.
func (t *Simulator) together(ctx context.Context, results []Result) *Outcome {
	all, whole := Remedy{}, Problem{}
	n := 0
	goals := func(p *Problem) {
		if p.Holds == nil {
			whole.Goals = append(whole.Goals, p.Goals...)
		}
		whole.Starts = append(whole.Starts, p.Starts...)
	}
	for i := range results {
		if best := results[i].Best; best != nil {
			n++
			all.Steps = append(all.Steps, best.Steps...)
			all.Pods = append(all.Pods, best.Pods...)
			for _, c := range best.Waits {
				if !slices.Contains(all.Waits, c) {
					all.Waits = append(all.Waits, c)
				}
			}
			goals(results[i].Problem)
		}
	}
	if n < 2 {
		return nil
	}
	o, err := t.Simulate(ctx, &whole, &all)
	if err != nil {
		return nil
	}
	return o
}
