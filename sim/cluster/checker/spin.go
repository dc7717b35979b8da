package checker

import (
	"time"

	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// spins are how often the manager's background processes ask for the same.
type spins struct {
	of       map[sim.ActorID]*spin
	revision int64 // of the store, at the step before
	found    []invariant.Spin
}

// spin is one process.
type spin struct {
	began    time.Duration       // the window
	asked    map[sim.Request]int // in it
	since    time.Duration       // the first of the windows, up to this one, in each of which it spun
	reported bool
}

// countSpins counts a step. What a process has changed starts it anew.
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
		x = &spin{began: s.At, since: s.At, asked: map[sim.Request]int{}}
		if j.of == nil {
			j.of = map[sim.ActorID]*spin{}
		}
		j.of[op.Actor] = x
	case j.revision != was && op.Kind == sim.Write:
		x.began, x.since = s.At, s.At
		clear(x.asked)
	case s.At-x.began >= invariant.SpinWindow && x.next(s.At):
		most := x.most()
		j.found = append(j.found, invariant.Spin{Actor: string(op.Actor), Request: most.String(), Times: x.asked[most], Since: x.since})
		c.changed = true
	}
	if s.At-x.began >= invariant.SpinWindow {
		x.began = s.At
		clear(x.asked)
	}
	x.asked[*op.Request]++
}

// next checks a window that has ended, and reports whether the process has spun for long
// enough, and that was not reported.
func (x *spin) next(at time.Duration) bool {
	if x.asked[x.most()] < invariant.SpinTimes || at-x.began >= 2*invariant.SpinWindow {
		x.since = at
	}
	if at-x.since < invariant.SpinFor || x.reported {
		return false
	}
	x.reported = true
	return true
}

// most is what the process has asked for most often in its window; of several, the first
// by its text.
func (x *spin) most() (most sim.Request) {
	for r, n := range x.asked {
		if m := x.asked[most]; n > m || n == m && r.String() < most.String() {
			most = r
		}
	}
	return most
}
