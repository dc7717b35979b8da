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

// story is what the page tells before its program runs.
type story struct {
	*record.Record
	Style    template.CSS
	Policy   string
	Mark     string // of the verdict, for eyes
	Headline string // the verdict and whether it was expected, in words
	Expects  string
	Refused  *refusals
	Tells    []string // paragraphs
	Known    []piece  // as what, elsewhere
	First    *violation
	Others   others
	Since    *course // the dump, of an imported cluster
}

type violation struct {
	*record.Violation
	Index int // into the record's
}

func storyOf(rec *record.Record) *story {
	s := &story{Record: rec, Style: template.CSS(style), Policy: policy(), Tells: paragraphs(rec.Story), Known: knownAs(rec.Scenario)}
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
		return "✓", "Passes: nothing broke"
	case rec.Verdict == reports.Pass:
		return "✗", "Passes, and a failure was expected"
	case rec.Verdict == reports.Fail && rec.AsExpected && rec.Strategy == "replay":
		return "✗", "Found by a search: it fails again as recorded"
	case rec.Verdict == reports.Fail && rec.AsExpected:
		return "✗", "Expected failure: this scenario keeps a known weakness on record"
	case rec.Verdict == reports.Fail:
		return "✗", "Fails, and was not expected to"
	}
	return "?", "Nothing is proved: the run did not get to its end"
}

// expectation is the sentence that keeps a reader from taking a known failure for
// news, or news for a known failure.
func expectation(rec *record.Record) string {
	want := strings.Join(rec.Expected, ", ")
	switch {
	case rec.Imported:
		return importedExpectation(rec)
	case rec.Verdict == reports.Fail && rec.AsExpected:
		return "It expects " + want + "."
	case want != "" && !rec.AsExpected:
		return "The scenario expects " + want + "."
	case want == "" && rec.Verdict == reports.Fail && !rec.AsExpected:
		return "The scenario expects that nothing breaks."
	}
	return ""
}

// refusals are the ADDs that failed: often they are what users see of what broke.
type refusals struct {
	*record.Event               // the first
	Of            string        // how many of how many
	Last          *record.Event // the last
	Since         *record.Event // the first of a pod that waits to the end; nil if none does
	Who           string        // waits
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
	r.Of, r.Who = fmt.Sprintf("%d of %d", failed, all), "1 pod has"
	if n := len(rec.Waiting); n > 1 {
		r.Who = fmt.Sprintf("%d pods have", n)
	}
	return r
}

// subject is what a violation is about, in a word: its address, or else its pod.
func subject(v violation) string {
	for _, kind := range []model.RefKind{model.RefAddress, model.RefPod, model.RefNode, model.RefActor} {
		if name := model.Named(v.Objects, kind); name != "" {
			return name
		}
	}
	return ""
}

// Weight is what the severity of the gravest violation means in this run.
func (s *story) Weight() string {
	if s.First.Severity == model.Minor && len(s.Waiting) > 0 {
		return "Addresses are wasted, and none is left for the pods that wait"
	}
	return weight(s.First.Severity)
}

// weight is what a severity means.
func weight(s model.Severity) string {
	return map[model.Severity]string{
		model.Critical: "Traffic goes wrong now",
		model.Major:    "Traffic is about to go wrong, or pods cannot start",
		model.Minor:    "Addresses are wasted",
	}[s]
}

// gravest is the violation to tell of: one that was not expected before one that
// was, then by what it does to users, then the first. Of what is new in an imported
// cluster it is the first: that is where things went wrong.
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

// clock is virtual time as every report writes it.
func clock(d time.Duration) string { return d.Round(time.Millisecond).String() }

// swapped is what happens with the messages of the i-th race in the other order.
func swapped(i int, r model.Race) string { return prose.Race(i, &r) }

// arrows draws the arrows of the reports' texts, which are plain for terminals, and
// explains their words.
func arrows(text string) string {
	return strings.ReplaceAll(text, " -> ", "\u00a0→ ")
}

// Gravest tells the program which violation the page is about.
func (s *story) Gravest() string {
	if s.First == nil {
		return "-1"
	}
	return fmt.Sprint(s.First.Index)
}
