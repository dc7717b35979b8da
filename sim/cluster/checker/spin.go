package checker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// spins counts how often the manager's background processes send the same request or write
// the same row of the record.
type spins struct {
	of       map[sim.ActorID]*spin
	rows     map[string]*undo
	revision int64 // of the store, at the step before
	found    []invariant.Spin
}

// spin counts the requests of one process.
type spin struct {
	window
	asked map[sim.Request]int // in the window
}

// undo counts the writes of one row of the record.
type undo struct {
	window
	times int // in the window
	by    map[string]bool
}

// window is an interval of invariant.SpinWindow in which events are counted.
type window struct {
	began    time.Duration
	since    time.Duration // start of the consecutive windows, up to this one, that each had too many events
	reported bool
}

// over reports whether the window is complete, and then starts the next one. times is the
// count of the window and most the bound. report is true once: when the windows with too
// many events have lasted for invariant.SpinFor.
func (x *window) over(at time.Duration, times, most int) (over, report bool) {
	if at-x.began < invariant.SpinWindow {
		return false, false
	}
	if times < most || at-x.began >= 2*invariant.SpinWindow {
		x.since = at
	}
	x.began = at
	report = at-x.since >= invariant.SpinFor && !x.reported
	x.reported = x.reported || report
	return true, report
}

// countSpins counts the request of a step. A write that changes something restarts the
// count of its process.
func (c *Checker) countSpins(s *sim.Step) {
	op := &s.Choice.Op
	c.mu.Lock()
	defer c.mu.Unlock()
	j := &c.spins
	was := j.revision
	j.revision = c.cfg.Revision()
	if op.Request == nil || op.Kind != sim.Read && op.Kind != sim.Write || !c.Theirs(op.Actor) || !background(op.Actor) {
		return
	}
	x := j.of[op.Actor]
	switch {
	case x == nil:
		x = &spin{window{began: s.At, since: s.At}, map[sim.Request]int{}}
		if j.of == nil {
			j.of = map[sim.ActorID]*spin{}
		}
		j.of[op.Actor] = x
	case j.revision != was && op.Kind == sim.Write:
		x.began, x.since = s.At, s.At
		clear(x.asked)
	default:
		most := x.most()
		over, report := x.over(s.At, x.asked[most], invariant.SpinTimes)
		if report {
			c.spun(invariant.Spin{Actors: []string{string(op.Actor)}, Request: most.String(), Times: x.asked[most], Since: x.since})
		}
		if over {
			clear(x.asked)
		}
	}
	x.asked[*op.Request]++
}

// countUndone counts the rows of the record that a step has written: the ledger's changes
// from a position on. It skips handles, whose counts return to the same number as pods
// come and go.
func (c *Checker) countUndone(s *sim.Step, from int) {
	op := &s.Choice.Op
	c.mu.Lock()
	defer c.mu.Unlock()
	if from == len(c.ledger.Changes) || op.Kind != sim.Write || !c.Theirs(op.Actor) || !background(op.Actor) {
		return
	}
	j := &c.spins
	for i := range c.ledger.Changes[from:] {
		change := &c.ledger.Changes[from+i]
		if change.Gone || change.Row == model.RefHandle {
			continue
		}
		row := fmt.Sprint(change.Row, change.Refs)
		x := j.rows[row]
		if x == nil {
			x = &undo{window{began: s.At, since: s.At}, 0, map[string]bool{}}
			if j.rows == nil {
				j.rows = map[string]*undo{}
			}
			j.rows[row] = x
		}
		over, report := x.over(s.At, x.times, invariant.UndoTimes)
		if report {
			c.spun(invariant.Spin{Actors: slices.Sorted(maps.Keys(x.by)), Row: c.rowOf(change.Refs), Times: x.times, Since: x.since})
		}
		if over {
			x.times = 0
			clear(x.by)
		}
		x.times++
		x.by[string(op.Actor)] = true
	}
}

// rowOf returns the objects of a row. The row of a load balancer's address refers to the
// Service, not to a pool.
func (c *Checker) rowOf(refs []model.Ref) []model.Ref {
	out := slices.Clone(refs)
	for i := range out {
		if services := c.recorded.Services; out[i].Kind == model.RefPool && services != nil &&
			slices.ContainsFunc(services.All, func(s model.Service) bool { return s.Name == out[i].Name }) {
			out[i].Kind = model.RefService
		}
	}
	slices.SortFunc(out, model.Ref.Compare)
	return out
}

func (c *Checker) spun(s invariant.Spin) {
	c.spins.found = append(c.spins.found, s)
	c.changed = true
}

// most is the most frequent request of the process in its window; of several, the first by
// its text.
func (x *spin) most() (most sim.Request) {
	for r, n := range x.asked {
		if m := x.asked[most]; n > m || n == m && r.String() < most.String() {
			most = r
		}
	}
	return most
}
