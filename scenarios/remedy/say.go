package remedy

import (
	"fmt"
	"strings"
	"time"

	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// Say renders the cost of a remedy that passed.
func (o *Outcome) Say() string {
	pods := "no pod restarted"
	if n := len(o.Restarted); n > 0 {
		pods = layout.Plural(n, "pod") + " restarted"
	}
	with := ""
	for _, c := range o.Waits {
		with += ", " + c.Name + " running"
	}
	then := ""
	if len(o.Uncovers) > 0 {
		then = "; then dump and import again: this fix uncovers " + o.Uncovers[0].Invariant
	}
	return fmt.Sprintf("simulated: %s, %s (virtual), %s, no new findings%s%s", layout.Plural(len(o.Steps), "step"), o.Took.Round(time.Second), pods, with, then)
}

// Why renders why a remedy did not pass, its main step first.
func (o *Outcome) Why() string { return o.main() + ": " + strings.Join(o.reasons(), "; ") }

// main describes the last step that is not an Aside.
func (r *Remedy) main() string {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if _, aside := r.Steps[i].(Aside); !aside {
			return r.Steps[i].Say()
		}
	}
	return "nothing"
}

// reasonsShown bounds the new findings that are listed for one remedy.
const reasonsShown = 2

func (o *Outcome) reasons() []string {
	var out []string
	for _, f := range o.Failed {
		out = append(out, fmt.Sprintf("%s fails with %q", f.Action, reports.Clean(f.Err)))
	}
	if len(o.Stays) > 0 {
		out = append(out, "does not fix the finding")
	}
	for i := range o.New {
		if i == reasonsShown {
			out = append(out, fmt.Sprintf("and %d more", len(o.New)-i))
			break
		}
		out = append(out, fmt.Sprintf("causes %s (%s): %s", o.New[i].Invariant, o.New[i].Severity, reports.Clean(o.New[i].Message)))
	}
	if len(o.Lost) > 0 {
		out = append(out, Some(o.Lost)+" would lose an address")
	}
	if len(o.Waiting) > 0 {
		out = append(out, Some(o.Waiting)+" would get no address")
	}
	if o.Missing > 0 {
		out = append(out, layout.Plural(o.Missing, "pod")+" would not be recreated")
	}
	if len(o.Full) > 0 {
		out = append(out, Some(o.Full)+" would not be empty")
	}
	if o.Borrows != "" {
		out = append(out, "the next pod on "+o.Borrows+" would borrow again")
	}
	return out
}

// WhyNot renders why the remedies of a problem were not simulated; most is the time limit,
// pods and podsMost are the cluster's size and its limit.
func (r *Result) WhyNot(most time.Duration, pods, podsMost int) string {
	why := ""
	switch r.Untried {
	case TooLarge:
		why = fmt.Sprintf("the cluster has %d pods (limit %d)", pods, podsMost)
	case OutOfTime:
		why = fmt.Sprintf("time was up after %s (--act)", most)
	case Broken:
		why = "the run did not finish: " + r.Reason
	}
	return "not simulated, so no commands are printed: " + why
}
