package record

import (
	"encoding/json"
	"io"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/recording"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/timeline"
	"ipamsim/sim"
)

// storiesMax is the number of violations with a timeline in a record, storiesEachMax for one
// invariant: violations of one invariant often differ in names only.
const (
	storiesMax     = 40
	storiesEachMax = 3
)

// Of is a run as plain data. What a page shows of the state needs a film:
// without one, Film and Addresses are empty.
func Of(r *reports.Report) *Record {
	rec := &Record{
		Format: Format, Scenario: r.Scenario, Title: r.Title, Story: r.Story, File: r.File,
		Upstream: r.Upstream, References: r.References, Datastore: r.Datastore, Seed: r.Seed, Strategy: r.Strategy, Store: r.Store,
		Verdict: r.Verdict, Reason: r.Reason, AsExpected: r.AsExpected(), Expected: r.Expected, Imported: r.Imported(), Gone: r.Gone(),
		Virtual: r.Virtual, Calls: r.Calls, Digest: r.Digest, Command: r.Command(),
		Steps: []Step{}, Events: []Event{}, Violations: []Violation{}, Addresses: addresses(r),
	}
	if r.Trace != nil {
		rec.Steps = make([]Step, len(r.Trace.Steps))
		sites := siteIndex{r: r}
		for i, st := range r.Trace.Steps {
			rec.Steps[i] = recordedStep(r, st)
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
				rec.Events = append(rec.Events, recordedEvent(r, e))
			}
		}
	}
	rec.Violations = Violations(r)
	rec.Recording = recording.Recording{Tables: []recording.Table{}, Frames: []recording.Frame{}}
	if r.Recording != nil {
		rec.Recording = *r.Recording
	}
	rec.Ranges = ranges(r)
	rec.Waiting = waiting(rec)
	waitingTurns(rec)
	reachTurns(rec)
	return rec
}

// Write writes the record of a run, which Read reads.
func Write(w io.Writer, r *reports.Report) error {
	return json.NewEncoder(w).Encode(Of(r))
}

func recordedStep(r *reports.Report, st *sim.Step) Step {
	op := st.Choice.Op
	s := Step{
		Step: st.Step, At: st.At, Sent: op.Sent, Actor: string(op.Actor), Kind: op.Kind.String(), Outcome: st.Choice.Outcome.String(),
		Fault: st.Choice.Outcome.Fault(), Key: op.Key, Note: st.Note, Text: timeline.Words(st, new(r.Did(st))),
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
func ranges(r *reports.Report) (out []Range) {
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

func recordedEvent(r *reports.Report, e *model.Event) Event {
	out := Event{
		Step: r.ShownAt(e.Step, e.At), At: e.At, Kind: string(e.Kind), Actor: e.Actor, Node: e.Node, Container: e.Container, Failed: e.Err != "", Text: timeline.Said(e),
	}
	if e.Kind == model.SandboxDown {
		out.Why = reports.Clean(e.Text)
	}
	if e.Pod != (model.PodRef{}) {
		out.Pod = e.Pod.String()
	}
	for _, a := range e.Addrs {
		out.Addrs = append(out.Addrs, a.String())
	}
	return out
}

// Violations returns the violations of a run in the order they were found, the first few of each
// invariant with their timeline. Violations from before the run have none.
func Violations(r *reports.Report) []Violation {
	out := make([]Violation, len(r.Violations))
	timelines, n, known := map[string]int{}, 0, model.Know(r.Found)
	for i := range r.Violations {
		v := &r.Violations[i]
		out[i] = Violation{Violation: *v, At: v.At, Turns: []timeline.Turn{}}
		out[i].Step = r.ShownAt(v.Step, v.At)
		out[i].From, out[i].To = 0, 0 // positions in the history, which a record does not contain
		inv, _ := invariant.Named(v.Invariant)
		out[i].Meaning = inv.Doc
		if out[i].Known = known.Has(v); out[i].Known {
			continue // its cause is before the run
		}
		if timelines[v.Invariant]++; timelines[v.Invariant] <= storiesEachMax && n < storiesMax {
			n++
			out[i].Turns, out[i].Races = timeline.Path(r, v)
			out[i].Timeline = timeline.Of(r, v)
		}
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
		lines[i] = strings.TrimRight(reports.Clean(layout.Expand(strings.TrimSuffix(l, "\r"))), " ")
	}
	return Screen{Step: e.Step, At: e.At, Prompt: reports.Prompt(e), Output: strings.Join(lines, "\n")}
}
