package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/longtest"
)

// worded are scenarios whose stories turn on what each kind of rule in the timeline looks
// at: pools and pods, blocks and their owners, handles, tunnels, nodes, operators.
var worded = []struct{ scenario, datastore string }{
	{"r1-whereabouts-162", ""}, {"t1-tkg-range-exhausted", ""}, {"whereabouts-624-late-delete", ""}, {"found-second-range-unguarded", ""},
	{"w2-borrowed-from-kubestage1001", "kubernetes"}, {"w2-borrowed-from-kubestage1001", "etcdv3"},
	{"found-calico-half-release", ""}, {"found-calico-tunnel-address-freed-first", ""}, {"calico-4471-affinity-without-block", ""}, {"w4-repair-too-early", ""},
}

// storiesMax of a run are looked at: those of one invariant differ in names.
const storiesMax = 12

// TestTimelineWording: a sentence is for people only. With every one of them replaced by another
// (the words of messages and of the history, violations' messages, keys, notes, errors),
// a timeline shows the same steps and weighs them the same.
func TestTimelineWording(t *testing.T) {
	longtest.Skip(t)
	r := runner(t)
	for _, w := range worded {
		t.Run(strings.Trim(w.scenario+"/"+w.datastore, "/"), func(t *testing.T) {
			rep := run(t, r, own(t, w.scenario+".yaml"), scenarios.Options{Datastore: w.datastore, Store: scenarios.Memory})
			if len(rep.Violations) == 0 {
				t.Fatal("no violation")
			}
			n := min(len(rep.Violations), storiesMax)
			before, texts := timelinesOf(rep, n)
			reword(rep)
			defer timeline.Reword(func(string) string { return nonsense })()
			after, plain := timelinesOf(rep, n)
			for i := range n {
				if d := cmp.Diff(before[i], after[i]); d != "" {
					t.Errorf("%s at step %d: other words, another timeline (-before +after):\n%s", rep.Violations[i].Invariant, rep.Violations[i].Step, d)
				}
				if texts[i] == plain[i] || len(before[i]) == 0 {
					t.Errorf("%s at step %d: nothing was reworded in\n%s", rep.Violations[i].Invariant, rep.Violations[i].Step, texts[i])
				}
			}
		})
	}
}

// timelinesOf are the first n violations' timelines, as what was chosen and as text.
func timelinesOf(rep *reports.Report, n int) (chosen [][]string, texts []string) {
	for i := range n {
		v := &rep.Violations[i]
		chosen = append(chosen, timeline.Chosen(rep, v))
		texts = append(texts, timeline.Of(rep, v))
	}
	return chosen, texts
}

// nonsense has the words that timelines once went by, and no name.
const nonsense = "releases claims no block, counts the affinities"

// reword replaces what a report says in words of ours.
func reword(rep *reports.Report) {
	rep.Violations = slices.Clone(rep.Violations)
	for i := range rep.Violations {
		rep.Violations[i].Message = nonsense
	}
	h := &model.History{}
	for _, e := range rep.History.Events {
		e.Text = nonsense
		if e.Err != "" {
			e.Err = nonsense
		}
		h.Add(e)
	}
	rep.History = h
	steps := make([]*sim.Step, len(rep.Trace.Steps))
	for i, s := range rep.Trace.Steps {
		again := *s
		again.Note, again.Choice.Op.Key = nonsense, nonsense
		steps[i] = &again
	}
	rep.Trace = &sim.Trace{Steps: steps}
}
