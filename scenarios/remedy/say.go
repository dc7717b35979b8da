package remedy

import (
	"fmt"
	"strings"
	"time"

	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// Say says what a remedy that passed took.
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
		then = "; then dump and import again, for " + o.Uncovers[0].Invariant + " comes to light that was hidden"
	}
	return fmt.Sprintf("simulated: %s, %s (virtual), %s, nothing new%s%s", layout.Plural(len(o.Steps), "step"), o.Took.Round(time.Second), pods, with, then)
}

// Why says why a remedy did not pass, its main step first.
func (o *Outcome) Why() string { return o.main() + ": " + strings.Join(o.reasons(), "; ") }

// main is the last step that changes something besides where pods start.
func (r *Remedy) main() string {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if _, aside := r.Steps[i].(Aside); !aside {
			return r.Steps[i].Say()
		}
	}
	return "nothing"
}

// reasonsShown is how many findings are told of one remedy.
const reasonsShown = 2

func (o *Outcome) reasons() []string {
	var out []string
	for _, f := range o.Failed {
		out = append(out, fmt.Sprintf("%s fails with %q", f.Deed, reports.Clean(f.Err)))
	}
	if len(o.Stays) > 0 {
		out = append(out, "it does not help")
	}
	for i := range o.New {
		if i == reasonsShown {
			out = append(out, fmt.Sprintf("and %d more", len(o.New)-i))
			break
		}
		out = append(out, fmt.Sprintf("it brings %s (%s): %s", o.New[i].Invariant, o.New[i].Severity, reports.Clean(o.New[i].Message)))
	}
	if len(o.Lost) > 0 {
		out = append(out, Some(o.Lost)+" would lose an address")
	}
	if len(o.Waiting) > 0 {
		out = append(out, Some(o.Waiting)+" would get no address")
	}
	if o.Missing > 0 {
		out = append(out, layout.Plural(o.Missing, "pod")+" would not come back")
	}
	if len(o.Full) > 0 {
		out = append(out, Some(o.Full)+" would not be empty")
	}
	if o.Borrows != "" {
		out = append(out, "the next pod on "+o.Borrows+" would borrow again")
	}
	return out
}

// WhyNot says why nothing is known of the remedies of a problem; most is the bound of
// time, pods and podsMost the cluster's size and the bound of it.
func (r *Result) WhyNot(most time.Duration, pods, podsMost int) string {
	why := ""
	switch r.Untried {
	case TooLarge:
		why = fmt.Sprintf("the cluster has %d pods, and at most %d are", pods, podsMost)
	case OutOfTime:
		why = fmt.Sprintf("time was up after %s (--act)", most)
	case Broken:
		why = "the run did not come to an end: " + r.Reason
	}
	return "not simulated, and so not printed: " + why
}
