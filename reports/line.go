package reports

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/reports/layout"
)

// Line renders a run on one line.
func Line(r *Report) string {
	word := map[Verdict]string{Pass: "pass", Fail: "FAIL", Unknown: "unknown"}[r.Verdict]
	switch {
	case r.Verdict == Fail && r.AsExpected() && r.Imported():
		word = "same"
	case r.Verdict == Fail && r.AsExpected():
		word = "XFAIL"
	}
	parts := []string{fmt.Sprintf("%-7s %s seed %d %s", word, Clean(r.Scenario), r.Seed, Clean(r.Strategy))}
	if r.Datastore != "" {
		parts[0] += " " + Clean(r.Datastore)
	}
	if r.Store == "memory" {
		parts[0] += " in memory"
	}
	if len(r.References) > 0 {
		parts[0] += " " + Clean(strings.Join(r.References, " "))
	}
	if v := r.Gravest(); v != nil {
		parts = append(parts, headline(v))
		if n := len(r.Violations) - 1; n > 0 {
			parts = append(parts, fmt.Sprintf("+%d more", n))
		}
	}
	if r.Reason != "" {
		parts = append(parts, Clean(r.Reason))
	}
	if e := r.Expectation(); e != "" {
		parts = append(parts, "("+e+")")
	}
	return strings.Join(append(parts, fmt.Sprintf("%.2f s", r.Wall.Seconds())), "  ")
}

// NotHappened lists the actions without effect, on lines that follow Line; "" if there are none.
func NotHappened(r *Report) string {
	var b strings.Builder
	for _, x := range r.Idle {
		fmt.Fprintf(&b, "\n   did not happen: %s at %s: %s", Clean(x.What), layout.Clock(x.At), Clean(x.Why))
	}
	if b.Len() > 0 {
		b.WriteString("\n   (mayFail: true allows an entry to be without effect; spec.mayFail allows it for all entries)")
	}
	return b.String()
}

// headline renders the invariant, the objects and the time of a violation.
func headline(v *model.Violation) string {
	return fmt.Sprintf("%s at %s (step %d)", subjectLine(v.Invariant, v.Objects), layout.Clock(v.At), v.Step)
}

// subjectLine names an invariant and its objects.
func subjectLine(inv string, objects []model.Ref) string {
	var who []string
	for _, kind := range []model.RefKind{model.RefAddress, model.RefPod, model.RefContainer, model.RefActor, model.RefPool, model.RefReservation} {
		for _, o := range objects {
			if name := o.Name; o.Kind == kind && len(who) < headlineObjectsMax {
				if kind == model.RefContainer {
					name = name[:min(len(name), containerMax)]
				}
				who = append(who, layout.Cut(Clean(name), headlineNameMax))
			}
		}
	}
	return strings.Join(append([]string{inv}, who...), " ")
}

// An address and two pods suffice; container IDs are cut as docker ps does.
const (
	headlineObjectsMax = 3
	headlineNameMax    = 40
	containerMax       = 12
)

// Expectation compares the outcome with the scenario's expectation. It returns "" for a pass of a
// scenario without one.
func (r *Report) Expectation() string {
	switch unexpected, missing := r.Unexpected(), r.Missing(); {
	case len(unexpected) > 0 && r.Imported():
		return "new since the dump: " + strings.Join(unexpected, ", ")
	case len(unexpected) > 0 && r.Explicit:
		return "not expected: " + strings.Join(unexpected, ", ")
	case len(missing) > 0 && r.Verdict != Unknown:
		return "expected, but did not happen: " + Clean(strings.Join(missing, ", "))
	case len(r.Violations) > 0 && r.AsExpected() && r.Imported():
		return "nothing new since the dump"
	case len(r.Violations) > 0 && r.AsExpected():
		return "as expected"
	}
	return ""
}
