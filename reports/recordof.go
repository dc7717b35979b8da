package reports

import (
	"encoding/json"
	"io"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/recording"
	"ipamsim/reports/prose"
	"ipamsim/sim"
)

// storiesMax is of how many violations a record tells how they came about: of
// those that break the same invariant, the first few differ in names only.
const (
	storiesMax     = 40
	storiesEachMax = 3
)

// RecordOf is a run as plain data. What a page shows of the state needs a film:
// without one, Film and Addresses are empty.
func RecordOf(r *Report) *Record {
	rec := &Record{
		Format: RecordFormat, Scenario: r.Scenario, Title: r.Title, Story: r.Story, File: r.File,
		Upstream: r.Upstream, References: r.References, Datastore: r.Datastore, Seed: r.Seed, Strategy: r.Strategy, Store: r.Store,
		Verdict: r.Verdict, Reason: r.Reason, AsExpected: r.AsExpected(), Expected: r.Expected, Imported: r.Imported(), Gone: r.Gone(),
		Virtual: r.Virtual, Calls: r.Calls, Digest: r.Digest, Command: r.Command(),
		Steps: []RecordedStep{}, Events: []RecordedEvent{}, Violations: []RecordedViolation{}, Addresses: addresses(r),
	}
	if r.Trace != nil {
		rec.Steps = make([]RecordedStep, len(r.Trace.Steps))
		sites := siteIndex{r: r}
		for i, st := range r.Trace.Steps {
			rec.Steps[i] = r.recordedStep(st)
			rec.Steps[i].Site = sites.of(st)
		}
		rec.Sites = sites.all
	}
	if r.History != nil {
		for i := range r.History.Events {
			e := &r.History.Events[i]
			if e.Kind == model.Output {
				rec.Screens = append(rec.Screens, screenOf(e))
			} else {
				rec.Events = append(rec.Events, r.recordedEvent(e))
			}
		}
	}
	rec.Violations = r.stories()
	rec.Recording = recording.Recording{Tables: []recording.Table{}, Frames: []recording.Frame{}}
	if r.Recording != nil {
		rec.Recording = *r.Recording
	}
	rec.Ranges = r.ranges()
	rec.Waiting = waiting(rec)
	waitingTurns(rec)
	reachTurns(rec)
	return rec
}

// WriteRecord writes the record of a run, which ReadRecord reads.
func WriteRecord(w io.Writer, r *Report) error {
	return json.NewEncoder(w).Encode(RecordOf(r))
}

func (r *Report) recordedStep(st *sim.Step) RecordedStep {
	op := st.Choice.Op
	s := RecordedStep{
		Step: st.Step, At: st.At, Sent: op.Sent, Actor: string(op.Actor), Kind: op.Kind.String(), Outcome: st.Choice.Outcome.String(),
		Fault: st.Choice.Outcome.Fault(), Key: op.Key, Note: st.Note, Text: words(st, new(r.Did(st))),
	}
	if st.Enabled > 1 {
		s.Of = st.Enabled
	}
	if s.Text == s.Key {
		s.Text = ""
	}
	return s
}

// ranges are what the networks may hand out, where they say so address by address.
func (r *Report) ranges() (out []Range) {
	for _, n := range r.Networks {
		if n.Blocks != nil {
			continue
		}
		for _, x := range n.Ranges {
			out = append(out, Range{Network: n.Key, Prefix: x.Prefix, Start: x.Start, End: x.End, Exclude: x.Exclude})
		}
	}
	return out
}

func (r *Report) recordedEvent(e *model.Event) RecordedEvent {
	out := RecordedEvent{
		Step: r.shownAt(e.Step, e.At), At: e.At, Kind: string(e.Kind), Actor: e.Actor, Node: e.Node, Container: e.Container, Failed: e.Err != "", Text: said(e),
	}
	if e.Kind == model.SandboxDown {
		out.Why = Clean(e.Text)
	}
	if e.Pod != (model.PodRef{}) {
		out.Pod = e.Pod.String()
	}
	for _, a := range e.Addrs {
		out.Addrs = append(out.Addrs, a.String())
	}
	return out
}

// stories are the violations in the order they were found, the first few of each
// invariant with how it came to them. What was there before the run has no such story.
func (r *Report) stories() []RecordedViolation {
	out := make([]RecordedViolation, len(r.Violations))
	told, n, known := map[string]int{}, 0, model.Know(r.Found)
	for i := range r.Violations {
		v := &r.Violations[i]
		out[i] = RecordedViolation{Violation: *v, At: v.At, Turns: []Turn{}}
		out[i].Step = r.shownAt(v.Step, v.At)
		out[i].From, out[i].To = 0, 0 // positions in a history that a record has not
		inv, _ := invariant.Named(v.Invariant)
		out[i].Meaning = inv.Doc
		if out[i].Known = known.Has(v); out[i].Known {
			continue // how it came about was before the run
		}
		if told[v.Invariant]++; told[v.Invariant] <= storiesEachMax && n < storiesMax {
			n++
			sub := subjectOf(r, v)
			out[i].Turns, out[i].Races, out[i].Timeline = turnsOf(r, sub), sub.races, Timeline(r, v)
		}
	}
	return out
}

// turnsOf are the steps that led to a violation: the turning points, and what was
// read and done on the way to them.
func turnsOf(r *Report, s *subject) []Turn {
	out := []Turn{}
	for _, e := range pick(r, s) {
		if e.weight < glimpse {
			continue
		}
		t := Turn{Step: r.shownAt(e.step, e.at), At: e.at, Text: e.text, Races: e.races, Site: r.siteOf(e)}
		if e.sign != nil {
			t.Text = spoken(prose.Since(e.sign))
		}
		if !e.fact {
			t.Who = Clean(e.actor)
		}
		out = append(out, t)
	}
	return out
}

// screenOf is what a command printed, with tabs and what could harm a reader
// replaced; unlike on a terminal, all of it.
func screenOf(e *model.Event) Screen {
	text := strings.TrimRight(e.Output, "\n")
	if e.Err != "" {
		text = strings.TrimPrefix(text+"\n", "\n") + strings.TrimRight(e.Err, "\n")
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(Clean(expand(strings.TrimSuffix(l, "\r"))), " ")
	}
	return Screen{Step: e.Step, At: e.At, Prompt: prompt(e), Output: strings.Join(lines, "\n")}
}
