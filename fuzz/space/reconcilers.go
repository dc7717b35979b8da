package space

import (
	"fmt"
	"time"

	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/cron"
)

// Reconcilers draws the passes of a reconciler: none, single passes 0.3 to 2.8 s apart (a CronJob's
// schedule has whole seconds), or a CronJob. The CronJob for the time after the script is slow
// enough to cost little.
func (w *World) Reconcilers(name string) {
	dense := w.Chance(3, 5)
	if dense {
		w.passes(name)
	}
	if !dense || w.Chance(1, 2) {
		r := scenarios.Reconciler{Name: name, Schedule: Pick(w.Choices, "@every 20s", "@every 45s", "*/1 * * * *")}
		if !dense && w.Chance(1, 2) {
			r.Schedule = Pick(w.Choices, "@every 7s", "@every 3s")
		}
		r.Count = Pick(w.Choices, 0, 2)
		r.Overlap = Pick(w.Choices, "", cron.Allow, cron.Forbid, cron.Replace)
		if r.Count == 0 && w.Chance(1, 8) {
			r.AllNodes = true
		}
		w.Doc.Spec.Reconcilers = append(w.Doc.Spec.Reconcilers, r)
	}
}

// passesMax is the limit of passes in the timeline.
const passesMax = 8

// passes adds passes to the timeline, one or two at a time.
func (w *World) passes(name string) {
	every := w.Duration(300*time.Millisecond, 2800*time.Millisecond)
	count := Pick(w.Choices, 0, 2)
	at := time.Duration(w.Int(int(w.Until/time.Millisecond))) * time.Millisecond / 2
	for n := w.Between(1, passesMax); n > 0 && at <= w.Until; n-- {
		w.At(at, scenarios.Event{Action: &action.Reconcile{Name: name, Count: count}})
		at += every/2 + time.Duration(w.Int(1000))*every/1000
	}
}

// Title sets a title that describes the world in one line.
func (w *World) Title() {
	s := &w.Doc.Spec
	s.Title = fmt.Sprintf("drawn: %d nodes, %d pods, at most %d faults", len(w.Nodes), w.pods, s.Faults.Max)
}
