package diagnosis

import (
	"context"
	"fmt"
	"io"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/ipam"
)

// Bound is how much is simulated.
type Bound struct {
	Wall time.Duration // for which the caller lets Prove's context live; 0: nothing is simulated
	Pods int           // a cluster with more is not simulated; 0: podsActed
	// Progress is called before each run, from 1. May be nil.
	Progress func(problem, of int)
}

// podsActed is how large a cluster is simulated: of 5,000 pods on 200 nodes a run takes
// some ten seconds and a gigabyte, and both grow faster than the cluster does.
const podsActed = 5000

// Prove thinks of remedies for what is wrong and acts them out, in runs of the real code
// that begin with s, the scenario of the cluster, which looks like v. What could not be
// simulated before ctx ends is reported, and not offered. The error is ours.
func (f *Findings) Prove(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, v *scenarios.View, b Bound) error {
	if b.Pods == 0 {
		b.Pods = podsActed
	}
	f.bound = b
	problems, cast, err := f.plan(s, v)
	if err != nil {
		return err
	}
	var furniture []scenarios.Event
	for _, m := range f.cluster.Managers() {
		if r, ok := ipam.Part[*Remedies](m); ok && r.Furniture != nil {
			furniture = append(furniture, r.Furniture(s, v)...)
		}
	}
	f.Results, f.Together = remedy.NewTheatre(r, s, v, cast, furniture).Prove(ctx, problems, remedy.Bound{Pods: b.Pods, Progress: b.Progress})
	return nil
}

// Plan is what Prove simulates: the problems, each with the remedies that are thought of. None
// of them was simulated.
func (f *Findings) Plan(s *scenarios.Scenario, v *scenarios.View) ([]remedy.Problem, error) {
	problems, _, err := f.plan(s, v)
	return problems, err
}

func (f *Findings) plan(s *scenarios.Scenario, v *scenarios.View) ([]remedy.Problem, *remedy.Cast, error) {
	cast, err := remedy.CastOf(s, f.owner)
	if err != nil {
		return nil, nil, err
	}
	return f.problems(v, cast, s.Doc.Spec.Datastore), cast, nil
}

// owner is whose a pod is.
func (f *Findings) owner(p model.PodRef) remedy.Owner {
	if x := f.cluster.Pods[p.String()]; x != nil {
		return remedy.Owner{Kind: x.Value.Owner.Kind, Name: x.Value.Owner.Name, Bound: x.Value.Affine}
	}
	return remedy.Owner{Hidden: true}
}

// writeResult tells what would mend a problem: whom to ask first, then the steps that
// passed, or why there are none.
func (f *Findings) writeResult(w io.Writer, problem int) {
	r := &f.Results[problem-1]
	say := func(format string, args ...any) {
		fmt.Fprintf(w, "       %s\n", reports.Clean(fmt.Sprintf(format, args...)))
	}
	if a := r.Advice; a != nil {
		say("%s", a.Say())
		for _, line := range a.Commands() {
			if f.first(a.Controller, problem) {
				fmt.Fprintf(w, "          %s\n", line)
			}
		}
		if r.Left != nil {
			say("%s", r.Left.Say())
		}
	}
	for i := range f.Shortages {
		if f.Shortages[i].Problem == problem {
			f.Shortages[i].write(say)
		}
	}
	switch {
	case r.With != nil && len(r.With.Goals) == 0:
		say("remediation: goes away with the steps that give %s a block", r.With.Needs)
	case r.With != nil:
		say("remediation: goes away with the steps for %s", subject(r.With))
	case r.Itself:
		say("remediation: goes away by itself")
	case r.Best != nil:
		f.writeSteps(w, r.Best)
	default:
		for i, line := range f.WhyNone(r) {
			if i == 0 {
				line = "remediation: " + line
			}
			say("%s", line)
		}
		if r.Else != "" {
			say("to decide: %s", r.Else)
		}
	}
}

// subject is what a problem is about, for people.
func subject(p *remedy.Problem) string {
	if len(p.Goals) == 0 {
		return "the block that " + p.Needs + " needs"
	}
	return p.Goals[0].Invariant
}

// first reports whether a problem is the first of those that ask for a controller: its
// commands are printed once.
func (f *Findings) first(c *remedy.Controller, problem int) bool {
	for i := range f.All {
		if p := f.All[i].Problem; p > 0 && f.Results[p-1].Advice != nil && f.Results[p-1].Advice.Controller == c {
			return p == problem
		}
	}
	return true
}

func (f *Findings) writeSteps(w io.Writer, o *remedy.Outcome) {
	fmt.Fprintf(w, "       remediation: %s\n", o.Say())
	for _, c := range o.Cautions {
		fmt.Fprintf(w, "       caution: %s\n", c)
	}
	for i, s := range o.Steps {
		fmt.Fprintf(w, "       %d. %s\n", i+1, reports.Clean(s.Say()))
		for _, line := range s.Commands() {
			fmt.Fprintf(w, "          %s\n", line)
		}
	}
}

// WhyNone says why nothing is offered, in sentences.
func (f *Findings) WhyNone(r *remedy.Result) []string {
	switch {
	case r.Untried != remedy.Acted:
		return []string{r.WhyNot(f.bound.Wall, f.pods, f.bound.Pods)}
	case len(r.Tried) == 0 && len(r.Ruled) == 0 && r.Long > 0:
		return []string{fmt.Sprintf("it would take %d commands, and not more than %d are simulated and printed", r.Long, LinesMax)}
	case len(r.Tried) == 0 && len(r.Ruled) == 0:
		return []string{"none can be simulated"}
	}
	out := []string{"nothing safe was found"}
	for i, x := range r.Ruled {
		if i == shownMax && len(r.Ruled) > shownMax+1 {
			out = append(out, fmt.Sprintf("%d more pods are like these", len(r.Ruled)-shownMax))
			break
		}
		out = append(out, x.Say())
	}
	for _, o := range r.Tried {
		out = append(out, "simulated and not offered: "+o.Why())
	}
	return out
}

// writeLeftOut reports how many problems have remedies of which nothing is known.
func (f *Findings) writeLeftOut(w io.Writer) {
	n, why := 0, ""
	for i := range f.Results {
		if r := &f.Results[i]; r.Untried != remedy.Acted {
			if n++; n == 1 {
				why = r.WhyNot(f.bound.Wall, f.pods, f.bound.Pods)
			}
		}
	}
	if n > 0 && len(f.Results) > 1 {
		fmt.Fprintf(w, "left out: the remediations of %d of %s: %s\n", n, layout.Plural(len(f.Results), "problem"), reports.Clean(why))
	}
}

// writeShortages tells why nodes borrow where no finding has told it, and whether all steps
// may be taken one after another.
func (f *Findings) writeShortages(w io.Writer, done map[int]bool) {
	for i := range f.Shortages {
		if p := f.Shortages[i].Problem; !done[p] {
			done[p] = true
			fmt.Fprintf(w, "borrowed for want of a block:\n")
			f.writeResult(w, p)
		}
	}
	switch {
	case f.Together != nil && f.Together.Safe():
		fmt.Fprintf(w, "remediation: the steps of all findings, one after another: %s\n", f.Together.Say())
	case f.offered() > 1:
		fmt.Fprintf(w, "remediation: take the steps of one finding, then dump and import again: they were simulated each by itself\n")
	}
}

// offered is how many remedies are.
func (f *Findings) offered() int {
	n := 0
	for i := range f.Results {
		if f.Results[i].Best != nil {
			n++
		}
	}
	return n
}

// Commands are all lines that are offered, in order.
func (f *Findings) Commands() []string {
	var out []string
	for i := range f.Results {
		if best := f.Results[i].Best; best != nil {
			for _, s := range best.Steps {
				out = append(out, s.Commands()...)
			}
		}
	}
	return out
}
