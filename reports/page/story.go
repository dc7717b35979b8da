package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
)

// violationsMax is how many violations have their timeline in the page's text. A run
// that breaks more of them breaks the same thing again and again; all of them are in
// the record.
const violationsMax = 100

// story is what the page tells before its program runs.
type story struct {
	*reports.Record
	Style    template.CSS
	Policy   string
	Mark     string // of the verdict, for eyes
	Headline string // the verdict and whether it was expected, in words
	Expects  string
	Refused  *refusals
	Tells    []string // paragraphs
	First    *violation
	Others   []violation
	Left     int // violations that are not among them
}

type violation struct {
	*reports.RecordedViolation
	Index int // into the record's
}

func storyOf(rec *reports.Record) *story {
	s := &story{Record: rec, Style: template.CSS(style), Policy: policy(), Tells: paragraphs(rec.Story)}
	s.Mark, s.Headline = headline(rec)
	s.Expects = expectation(rec)
	s.Refused = refused(rec)
	first := gravest(rec)
	for i := range rec.Violations {
		v := violation{&rec.Violations[i], i}
		switch {
		case i == first:
			s.First = &v
		case len(s.Others) < violationsMax:
			s.Others = append(s.Others, v)
		default:
			s.Left++
		}
	}
	return s
}

func headline(rec *reports.Record) (mark, text string) {
	switch {
	case rec.Verdict == reports.Pass && rec.AsExpected:
		return "✓", "Nothing broke"
	case rec.Verdict == reports.Pass:
		return "✗", "Nothing broke, though something should have"
	case rec.Verdict == reports.Fail && rec.AsExpected:
		return "✗", "It broke, as this scenario expects"
	case rec.Verdict == reports.Fail:
		return "✗", "It broke, and was not expected to"
	}
	return "?", "Nothing is proved: the run did not get to its end"
}

// expectation is the sentence that keeps a reader from taking a known failure for
// news, or news for a known failure.
func expectation(rec *reports.Record) string {
	want := strings.Join(rec.Expected, ", ")
	switch {
	case rec.Verdict == reports.Fail && rec.AsExpected:
		return "A scenario that shows a known weakness expects to fail. This one expects " + want + "."
	case want != "" && !rec.AsExpected:
		return "The scenario expects " + want + "."
	case want == "" && rec.Verdict == reports.Fail && !rec.AsExpected:
		return "The scenario expects that nothing breaks."
	}
	return ""
}

// refusals are the ADDs that failed: often they are what users see of what broke.
type refusals struct {
	*reports.RecordedEvent        // the first
	Of                     string // how many of how many
}

func refused(rec *reports.Record) *refusals {
	all, failed, first := 0, 0, -1
	for i := range rec.Events {
		switch e := &rec.Events[i]; {
		case e.Kind != string(model.AddEnd):
		case e.Failed && first < 0:
			first = i
			fallthrough
		case e.Failed:
			failed++
			fallthrough
		default:
			all++
		}
	}
	if failed == 0 {
		return nil
	}
	return &refusals{&rec.Events[first], fmt.Sprintf("%d of %d", failed, all)}
}

// subject is what a violation is about, in a word: its address, or else its pod.
func subject(v violation) string {
	for _, kind := range []string{"address ", "pod ", "node ", "actor "} {
		for _, o := range v.Objects {
			if name, ok := strings.CutPrefix(o, kind); ok {
				return name
			}
		}
	}
	return ""
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
// was, then by what it does to users, then the first.
func gravest(rec *reports.Record) int {
	rank := func(v *reports.RecordedViolation) int {
		n := slices.Index([]model.Severity{model.Critical, model.Major, model.Minor}, v.Severity)
		if rec.AsExpected || slices.Contains(rec.Expected, v.Invariant) {
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

// Gravest tells the program which violation the page is about.
func (s *story) Gravest() string {
	if s.First == nil {
		return "-1"
	}
	return fmt.Sprint(s.First.Index)
}
