package remedy

import (
	"context"
	"slices"
	"time"

	"ipamsim/model"
)

// Result is what there is to say about a problem.
type Result struct {
	*Problem
	Best  *Outcome   // the first remedy that passed; nil: none did
	Tried []*Outcome // those that did not pass, in order
	// With is the problem whose remedy takes the goals of this one along; nil: none.
	With *Problem
	// Itself: the goals are gone after a while, whatever anybody does.
	Itself bool
	// Untried is why remedies were not acted out; nothing is then known of them.
	Untried Untried
	Reason  string // ours or the kernel's, of Broken
	// Left is what comes of leaving it to the controller of Advice; nil: not known.
	Left *Left
}

// Left is what comes of leaving a cluster to a controller that should have acted.
type Left struct {
	Took time.Duration // virtual
	Gone bool          // all goals
	New  []model.Violation
}

// Untried is why a remedy was not acted out.
type Untried int

// The reasons.
const (
	Acted     Untried = iota
	TooLarge          // the cluster has more pods than are acted out
	OutOfTime         // the bound of time was reached
	Broken            // the run did not come to an end
)

// Bound is how much is acted out.
type Bound struct {
	Pods int // of a cluster; a larger one is not acted out
	// Progress is called before each run, with the number of the problem from 1. May be
	// nil.
	Progress func(problem, of int)
}

// Prove acts the remedies of problems out, each from the cluster as it is, until one of
// each passes or ctx ends. Problems come in the order in which they are solved: what a
// remedy takes along is not acted out again.
//
// The results are in the order of the problems. Together is what comes of all remedies
// that passed, taken one after another in that order; nil if fewer than two did or time
// was up.
func (t *Theatre) Prove(ctx context.Context, problems []Problem, b Bound) (results []Result, together *Outcome) {
	results = make([]Result, len(problems))
	stop := Acted
	if len(t.before.Truth.Sandboxes) > b.Pods {
		stop = TooLarge
	}
	for i := range problems {
		r := &results[i]
		r.Problem = &problems[i]
		if r.With = takenAlong(results[:i], r.Problem); r.With != nil || len(r.Try) == 0 {
			continue
		}
		if r.Untried = stop; stop != Acted {
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
	if stop == Acted {
		together = t.together(ctx, results)
		t.leave(ctx, results)
	}
	return results, together
}

// leave lets each controller that should have acted run for as long as it may take, and
// sees which goals are gone then. A cluster that has it running and the goals all the same
// has another trouble.
func (t *Theatre) leave(ctx context.Context, results []Result) {
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

func (t *Theatre) leaveTo(ctx context.Context, c *Controller, results []*Result) {
	var took time.Duration
	for _, r := range results {
		took = max(took, r.Advice.Within)
	}
	if t.wait(ctx) != nil {
		return
	}
	a, err := t.play(ctx, &Stage{cast: t.cast, now: took}, c)
	if err != nil {
		return
	}
	fresh := (&course{t.before, t.idle}).fresh(a)
	for _, r := range results {
		r.Left = &Left{Took: took, New: fresh, Gone: len(r.left(a)) == 0}
	}
}

// try acts remedies out until one passes.
func (t *Theatre) try(ctx context.Context, r *Result) {
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
		o, err := t.Act(ctx, r.Problem, &r.Try[i])
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

// takenAlong is the problem whose remedy has made all goals of another one go, nil if none
// has.
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

// together acts out all remedies that passed, one after another.
func (t *Theatre) together(ctx context.Context, results []Result) *Outcome {
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
	o, err := t.Act(ctx, &whole, &all)
	if err != nil {
		return nil
	}
	return o
}
