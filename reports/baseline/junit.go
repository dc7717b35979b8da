package baseline

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"ipamsim/reports"
)

// JUnit writes an outcome as JUnit XML, which CI servers show as tests: a suite for each address
// manager, a case for each scenario, in the order of the rows.
//
// A regression is a failure, and a scenario that could not run is an error. Other changes are in
// the case's output and turn nothing red. Versions are properties of the suite. The output has no
// time of day: the same outcome gives the same bytes.
//
// Structure: Jenkins' junit-4.xsd, which the later ones extend.
func JUnit(w io.Writer, o *Outcome) error {
	suites := map[string]*junit.Testsuite{}
	walls := map[string]time.Duration{}
	for i := range o.Rows {
		r := &o.Rows[i]
		manager := reports.Clean(r.Manager)
		if manager == "" {
			manager = "scenarios" // an unreadable scenario
		}
		s := suites[manager]
		if s == nil {
			s = &junit.Testsuite{Name: manager}
			versions(s, o, r.Manager)
			suites[manager] = s
		}
		walls[manager] += r.Wall
		s.AddTestcase(testcase(manager, r))
	}
	all := junit.Testsuites{Name: "ipamsim gate", Time: inSeconds(o.Wall)}
	for i, manager := range slices.Sorted(maps.Keys(suites)) {
		s := suites[manager]
		s.ID, s.Time = i, inSeconds(walls[manager])
		all.AddSuite(*s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func versions(s *junit.Testsuite, o *Outcome, manager string) {
	for _, v := range o.Versions {
		if v.Manager == manager {
			s.AddProperty("before", reports.Clean(v.Before))
			s.AddProperty("now", reports.Clean(v.Now))
		}
	}
}

func testcase(manager string, r *Row) junit.Testcase {
	c := junit.Testcase{Name: reports.Clean(r.Scenario), Classname: manager, Time: inSeconds(r.Wall)}
	g := r.gravest()
	if g == nil {
		return c
	}
	file, line := r.place()
	stories := []string{fmt.Sprintf("%s:%d", reports.Clean(file), line)}
	for i := range r.Changes {
		stories = append(stories, r.Changes[i].story())
	}
	text := strings.Join(stories, "\n\n")
	message := g.Words()
	if g.Sentence != "" {
		message += ": " + reports.Clean(g.Sentence)
	}
	switch result := (&junit.Result{Message: message, Type: reports.Clean(string(g.Kind)), Data: text}); {
	case !g.Regression:
		c.SystemOut = &junit.Output{Data: text}
	case !g.Kind.proves():
		c.Error = result
	default:
		c.Failure = result
	}
	return c
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
