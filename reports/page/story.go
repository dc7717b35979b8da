package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/prose"
	"ipamsim/reports/record"
)

// story is the static part of the page.
type story struct {
	*record.Record
	Style    template.CSS
	Policy   string
	Mark     string // of the verdict, a symbol
	Headline string // the verdict, and whether it was expected
	Expects  string
	Refused  *refusals
	Story    []string // paragraphs, of Record.Story
	Known    []piece  // reports of the same failure
	First    *violation
	Others   others
	Since    *course // the dump, of an imported cluster
}

type violation struct {
	*record.Violation
	Index int // into the record's
}

func storyOf(rec *record.Record) *story {
	s := &story{Record: rec, Style: template.CSS(style), Policy: policy(), Story: paragraphs(rec.Story), Known: knownAs(rec.Scenario)}
	s.Mark, s.Headline = headline(rec)
	s.Expects = expectation(rec)
	s.Refused = refused(rec)
	first := gravest(rec)
	if first >= 0 {
		s.First = &violation{&rec.Violations[first], first}
	}
	s.Others = othersOf(rec, first)
	s.Since = courseOf(rec)
	return s
}

func headline(rec *record.Record) (mark, text string) {
	switch {
	case rec.Imported:
		return importedHeadline(rec)
	case rec.Verdict == reports.Pass && rec.AsExpected:
		return "✓", "Pass: no violation"
	case rec.Verdict == reports.Pass:
		return "✗", "Pass, but a violation was expected"
	case rec.Verdict == reports.Fail && rec.AsExpected && rec.Strategy == "replay":
		return "✗", "Finding of a search: reproduced as recorded"
	case rec.Verdict == reports.Fail && rec.AsExpected:
		return "✗", "Expected failure: this scenario documents a known defect"
	case rec.Verdict == reports.Fail:
		return "✗", "Unexpected failure"
	}
	return "?", "Unknown: the run did not finish"
}

// expectation states what the scenario expects, so that readers can distinguish known failures
// from new ones.
func expectation(rec *record.Record) string {
	want := strings.Join(rec.Expected, ", ")
	switch {
	case rec.Imported:
		return importedExpectation(rec)
	case rec.Verdict == reports.Fail && rec.AsExpected:
		return "The scenario expects " + want + "."
	case want != "" && !rec.AsExpected:
		return "The scenario expects " + want + "."
	case want == "" && rec.Verdict == reports.Fail && !rec.AsExpected:
		return "The scenario expects no violation."
	}
	return ""
}

// refusals describes the failed ADDs, which are often the visible symptom.
type refusals struct {
	*record.Event               // the first
	Of            string        // "2 of 30"
	Last          *record.Event // the last
	Since         *record.Event // the first of a pod that waits to the end; nil if none does
	Waiting       string        // the waiting pods: "1 pod has"
}

func refused(rec *record.Record) *refusals {
	all, failed := 0, 0
	r := &refusals{}
	for i := range rec.Events {
		e := &rec.Events[i]
		if e.Kind != string(model.AddEnd) {
			continue
		}
		if all++; !e.Failed {
			continue
		}
		if failed++; r.Event == nil {
			r.Event = e
		}
		if r.Last = e; r.Since == nil && slices.Contains(rec.Waiting, e.Pod) {
			r.Since = e
		}
	}
	if failed == 0 {
		return nil
	}
	r.Of, r.Waiting = fmt.Sprintf("%d of %d", failed, all), "1 pod has"
	if n := len(rec.Waiting); n > 1 {
		r.Waiting = fmt.Sprintf("%d pods have", n)
	}
	return r
}

// subject returns the main object of a violation: its address, or else its pod.
func subject(v violation) string {
	for _, kind := range []model.RefKind{model.RefAddress, model.RefPod, model.RefNode, model.RefActor} {
		if name := model.Named(v.Objects, kind); name != "" {
			return name
		}
	}
	return ""
}

// Weight explains the severity of the gravest violation in this run.
func (s *story) Weight() string {
	if s.First.Severity == model.Minor && len(s.Waiting) > 0 {
		return "Addresses are wasted, and pods wait for one"
	}
	return weight(s.First.Severity)
}

// weight explains a severity.
func weight(s model.Severity) string {
	return map[model.Severity]string{
		model.Critical: "Traffic is misrouted now",
		model.Major:    "Traffic may be misrouted soon, or pods cannot start",
		model.Minor:    "Addresses are wasted",
	}[s]
}

// gravest returns the violation that the page is about: unexpected before expected, then by
// severity, then the first. For an imported cluster it is the first new one.
func gravest(rec *record.Record) int {
	if i := slices.IndexFunc(rec.Violations, func(v record.Violation) bool { return isNews(rec, &v) }); rec.Imported && i >= 0 {
		return i
	}
	rank := func(v *record.Violation) int {
		n := v.Severity.Rank()
		if !isNews(rec, v) {
			n += 10
		}
		return n
	}
	best := -1
	for i := range rec.Violations {
		if best < 0 || rank(&rec.Violations[i]) < rank(&rec.Violations[best]) {
			best = i
		}
	}
	return best
}

func paragraphs(text string) (out []string) {
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// clock renders virtual time.
func clock(d time.Duration) string { return d.Round(time.Millisecond).String() }

// swapped states the result of the i-th race in the other order.
func swapped(i int, r model.Race) string { return prose.Race(i, &r) }

// arrows replaces the ASCII arrows of the reports' texts.
func arrows(text string) string {
	return strings.ReplaceAll(text, " -> ", "\u00a0→ ")
}

// Gravest returns the index of the violation that the page is about, for the script.
func (s *story) Gravest() string {
	if s.First == nil {
		return "-1"
	}
	return fmt.Sprint(s.First.Index)
}
