package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"ipamsim/reports"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/strategy"
)

// YAML prints the scenario as a file that loads to an equal one: the Scenario
// document, then the manifests. Comments are lost, and what loading understood is
// written out: a List is unpacked, a reconciler's CronJob is an entry of
// spec.reconcilers.
func (s *Scenario) YAML() ([]byte, error) {
	bodies, err := s.Documents()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for i, b := range bodies {
		n, err := strict.NodeOf(b)
		if err != nil {
			return nil, fmt.Errorf("print %s: %w", s.Name(), err)
		}
		if i == 0 {
			s.oneLineEach(n)
		}
		if err := e.Encode(n); err != nil {
			return nil, fmt.Errorf("print %s: %w", s.Name(), err)
		}
	}
	return out.Bytes(), e.Close()
}

// Documents are what YAML prints, as JSON: the Scenario document, then the
// manifests.
func (s *Scenario) Documents() ([]json.RawMessage, error) {
	doc, err := strict.Marshal(s.Doc)
	if err != nil {
		return nil, fmt.Errorf("print %s: %w", s.Name(), err)
	}
	bodies := []json.RawMessage{doc}
	for _, o := range s.Objects[len(s.Doc.Spec.Nodes):] { // those of spec.nodes come first
		bodies = append(bodies, o.Body)
	}
	return bodies, nil
}

// oneLineEach prints each decision of the schedule on a line of its own.
func (s *Scenario) oneLineEach(doc *yaml.Node) {
	list, exact := strict.Locate(doc, at("spec", "schedule", "decisions"))
	if s.Doc.Spec.Schedule == nil || !exact {
		return
	}
	for i, n := range list.Content {
		n.Style = yaml.FlowStyle
		n.LineComment = reports.Clean(s.Doc.Spec.Schedule.Decisions[i].About)
	}
}

// Finding is the scenario with the recorded run in it: a file that replays on its
// own, and expects to see the same again.
func (s *Scenario) Finding(rep *reports.Report) ([]byte, error) {
	if rep.Trace == nil {
		return nil, errors.New("finding: the report has no trace")
	}
	f := s.recorded(rep)
	f.Doc.Spec.Schedule.Picks = FormatPicks(rep.Trace.Schedule())
	return f.YAML()
}

// Recorded is the scenario with a recorded run in it that departed from the
// default order by these exceptions; it expects to see the same again.
func (s *Scenario) Recorded(rep *reports.Report, exceptions []strategy.Exception) *Scenario {
	f := s.recorded(rep)
	about := map[strategy.Message]string{}
	for _, st := range rep.Trace.Steps {
		op := st.Choice.Op
		about[strategy.MessageOf(op)] = op.Key
	}
	for _, e := range exceptions {
		d := DecisionOf(e)
		if d.About = about[e.Message]; d.Before != "" {
			d.About = about[e.Before]
		}
		f.Doc.Spec.Schedule.Decisions = append(f.Doc.Spec.Schedule.Decisions, d)
	}
	return f
}

func (s *Scenario) recorded(rep *reports.Report) *Scenario {
	f := *s
	spec := &f.Doc.Spec
	spec.Controllers = s.Controllers()
	spec.Schedule = &Schedule{Upstream: rep.Upstream, Digest: rep.Digest, Seed: rep.Seed, Races: rep.Races}
	spec.Schedule.Instant.Duration = rep.Instant
	if rep.Stopped {
		spec.Schedule.Steps = len(rep.Trace.Steps)
	}
	if rep.Datastore != s.datastore(Options{}) {
		spec.Datastore = rep.Datastore
	}
	if _, err := strategy.Parse(rep.Strategy, 0, strategy.Settings{}); err == nil {
		spec.Strategy = rep.Strategy
	}
	spec.Expect = &Expect{}
	for _, v := range rep.Violations {
		spec.Expect.Violations = append(spec.Expect.Violations, v.Invariant)
	}
	slices.Sort(spec.Expect.Violations)
	spec.Expect.Violations = slices.Compact(spec.Expect.Violations)
	return &f
}
