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

// Bound limits what is simulated.
type Bound struct {
	Wall time.Duration // the timeout of Prove's context, for the report; 0: nothing is simulated
	Pods int           // a cluster with more pods is not simulated; 0: podsMax
	// Progress is called before each problem with its number, from 1. It may be nil.
	Progress func(problem, of int)
}

// podsMax is the default of Bound.Pods: a run of 5,000 pods on 200 nodes takes some ten
// seconds and a gigabyte, and both grow faster than the cluster.
const podsMax = 5000

// Prove simulates candidate remedies in runs of the real code that begin with s, the scenario
// of the cluster with the view v. Remedies that were not simulated before ctx ends are reported
// as such, without commands.
func (f *Findings) Prove(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, v *scenarios.View, b Bound) error {
	if b.Pods == 0 {
		b.Pods = podsMax
	}
	f.bound = b
	problems, facts, err := f.plan(s, v)
	if err != nil {
		return err
	}
	var defaults []scenarios.Event
	for _, m := range f.cluster.Managers() {
		if r, ok := ipam.Part[*Remedies](m); ok && r.Defaults != nil {
			defaults = append(defaults, r.Defaults(s, v)...)
		}
	}
	f.Results, f.Together = remedy.NewSimulator(r, s, v, facts, defaults).Prove(ctx, problems, remedy.Bound{Pods: b.Pods, Progress: b.Progress})
	return nil
}

// Plan returns the problems that Prove would simulate, with their candidate remedies.
func (f *Findings) Plan(s *scenarios.Scenario, v *scenarios.View) ([]remedy.Problem, error) {
	problems, _, err := f.plan(s, v)
	return problems, err
}

func (f *Findings) plan(s *scenarios.Scenario, v *scenarios.View) ([]remedy.Problem, *remedy.Facts, error) {
	facts, err := remedy.FactsOf(s, f.owner)
	if err != nil {
		return nil, nil, err
	}
	return f.problems(v, facts, s.Doc.Spec.Datastore), facts, nil
}

// owner returns the owner of a pod.
func (f *Findings) owner(p model.PodRef) remedy.Owner {
	if x := f.cluster.Pods[p.String()]; x != nil {
		return remedy.Owner{Kind: x.Value.Owner.Kind, Name: x.Value.Owner.Name, Bound: x.Value.Affine}
	}
	return remedy.Owner{Hidden: true}
}

// writeResult prints how to fix a problem: the controller to check first, then the steps that
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
		say("remediation: fixed by the steps that give %s a block", r.With.Needs)
	case r.With != nil:
		say("remediation: fixed by the steps for %s", subject(r.With))
	case r.Itself:
		say("remediation: none needed; it resolves itself")
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

// subject names a problem for the reader.
func subject(p *remedy.Problem) string {
	if len(p.Goals) == 0 {
		return "the block that " + p.Needs + " needs"
	}
	return p.Goals[0].Invariant
}

// first reports whether a problem is the first one with advice about a controller: the
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

// WhyNone renders why there is no remediation, in sentences.
func (f *Findings) WhyNone(r *remedy.Result) []string {
	switch {
	case r.Untried != remedy.Simulated:
		return []string{r.WhyNot(f.bound.Wall, f.pods, f.bound.Pods)}
	case len(r.Tried) == 0 && len(r.Ruled) == 0 && r.Long > 0:
		return []string{fmt.Sprintf("it would take %d commands; at most %d are simulated and printed", r.Long, LinesMax)}
	case len(r.Tried) == 0 && len(r.Ruled) == 0:
		return []string{"none can be simulated"}
	}
	out := []string{"no safe remediation found"}
	for i, x := range r.Ruled {
		if i == shownMax && len(r.Ruled) > shownMax+1 {
			out = append(out, fmt.Sprintf("%d more pods cannot be moved either", len(r.Ruled)-shownMax))
			break
		}
		out = append(out, x.Say())
	}
	for _, o := range r.Tried {
		out = append(out, "simulated and rejected: "+o.Why())
	}
	return out
}

// writeLeftOut prints how many problems have remedies that were not simulated.
func (f *Findings) writeLeftOut(w io.Writer) {
	n, why := 0, ""
	for i := range f.Results {
		if r := &f.Results[i]; r.Untried != remedy.Simulated {
			if n++; n == 1 {
				why = r.WhyNot(f.bound.Wall, f.pods, f.bound.Pods)
			}
		}
	}
	if n > 0 && len(f.Results) > 1 {
		fmt.Fprintf(w, "skipped: the remediations of %d of %s: %s\n", n, layout.Plural(len(f.Results), "problem"), reports.Clean(why))
	}
}

// writeShortages prints why nodes borrow, if no finding has shown it, and whether all
// remediations may be applied one after another.
func (f *Findings) writeShortages(w io.Writer, done map[int]bool) {
	for i := range f.Shortages {
		if p := f.Shortages[i].Problem; !done[p] {
			done[p] = true
			fmt.Fprintf(w, "borrowed because there is no free block:\n")
			f.writeResult(w, p)
		}
	}
	switch {
	case f.Together != nil && f.Together.Safe():
		fmt.Fprintf(w, "remediation: the steps of all findings, one after another: %s\n", f.Together.Say())
	case f.offered() > 1:
		fmt.Fprintf(w, "remediation: apply the steps of one finding, then dump and import again: each was simulated by itself\n")
	}
}

// offered returns the number of remedies that passed.
func (f *Findings) offered() int {
	n := 0
	for i := range f.Results {
		if f.Results[i].Best != nil {
			n++
		}
	}
	return n
}

// Commands returns all commands of remedies that passed, in order.
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
