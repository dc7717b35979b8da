package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// after is an exponential time.
func after(r *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(r.ExpFloat64() * float64(mean))
}

// next draws when a place meets a kind of trouble next.
func (s *script) next(what act, in int32) {
	t := &s.c.Trouble
	r, mean := s.drain, t.DrainEvery
	switch what {
	case actCrash:
		r, mean = s.crash, t.CrashEvery
	case actReplace:
		r, mean = s.replace, t.ReplaceEvery
	}
	if mean > 0 {
		s.agenda.add(s.now+after(r, mean), what, in)
	}
}

// trouble affects a place. A machine that is already affected is skipped.
func (s *script) trouble(e entry) {
	in := e.who
	m := s.schedule.places[in].machine
	x := &s.machines[m]
	if x.state != serving {
		s.next(e.act, in)
		return
	}
	t := &s.c.Trouble
	x.since = s.now
	s.close(in)
	if x.leaves = e.act == actReplace && t.ReplaceDrained; e.act == actDrain || x.leaves {
		x.state = drained
		s.agenda.add(s.now+moment, actEmpty, m)
		until := max(t.DrainFor, moment)
		if x.leaves {
			until = moment
		} else {
			s.Drains++
		}
		s.agenda.add(s.now+until, actDrained, m)
		return
	}
	x.state = down
	s.emit(NodeDown, m, -1)
	s.agenda.add(s.now+s.c.Evict(), actEvict, m)
	if e.act == actCrash {
		s.agenda.add(s.now+max(t.CrashFor, moment), actUp, m)
	} else {
		s.agenda.add(s.now+max(t.ReplaceFor, moment), actReplaced, m)
	}
}

// Evict is how long pods stay on a node that is silent.
func (c *Workload) Evict() time.Duration {
	if c.Trouble.Evict > 0 {
		return c.Trouble.Evict
	}
	return EvictDefault
}

// close keeps the scheduler away from a place.
func (s *script) close(in int32) {
	s.schedule.places[in].open = false
	s.schedule.changed(in)
}

// open lets it come again.
func (s *script) open(in int32) {
	s.schedule.places[in].open = true
	s.schedule.changed(in)
	s.roomy()
}

// empty deletes one more pod of a node that is drained.
func (s *script) empty(m int32) {
	x := &s.machines[m]
	if x.state != drained || len(x.pods) == 0 {
		return
	}
	s.stop(x.pods[len(x.pods)-1], true)
	s.agenda.add(s.now+moment, actEmpty, m)
}

// reopen ends a drain, unless it is not done yet.
func (s *script) reopen(m int32) {
	x := &s.machines[m]
	if len(x.pods) > 0 {
		s.agenda.add(s.now+moment, actDrained, m)
		return
	}
	if x.leaves {
		s.agenda.add(s.now, actOff, m)
		return
	}
	x.state = serving
	s.open(x.place)
	s.next(actDrain, x.place)
}

// off ends a machine that has been drained to be replaced.
func (s *script) off(m int32) {
	x := &s.machines[m]
	x.state, x.since = down, s.now
	s.emit(NodeDown, m, -1)
	s.agenda.add(s.now+max(s.c.Trouble.ReplaceFor, moment), actReplaced, m)
}

// evict marks the pods of a node that is silent; others start elsewhere.
func (s *script) evict(m int32) {
	x := &s.machines[m]
	if x.state != down || s.now != x.since+s.c.Evict() {
		return // it is back, perhaps down again, or its object is gone
	}
	pods := slices.Sorted(slices.Values(x.pods))
	for _, p := range pods {
		s.emit(PodMarked, m, p)
		s.unbind(p)
	}
	s.machines[m].marked = append(s.machines[m].marked, pods...)
	s.elsewhere(pods)
}

// up turns a machine on. Its marked pods are removed.
func (s *script) up(m int32) {
	x := &s.machines[m]
	s.emit(NodeUp, m, -1)
	x.state, x.since, x.marked = serving, s.now, nil
	for _, p := range x.pods {
		s.pods[p].first = false
	}
	s.open(x.place)
	s.next(actCrash, x.place)
}

// replaced puts another machine in the place of a removed one.
func (s *script) replaced(m int32) {
	in := s.machines[m].place
	if !s.c.Trouble.KeepNode {
		s.machines[m].state = deleted
		s.emit(NodeDeleted, m, -1)
		s.agenda.add(s.now+PodGC, actRemoved, m)
	}
	now := int32(len(s.nodes))
	first := &s.nodes[s.machines[m].first]
	s.nodes = append(s.nodes, s.names.like(first, fmt.Sprintf("%s-%d", first.Name, s.machines[m].nth+2)))
	s.emit(NodeJoins, now, -1)
	s.stands(now, in)
	s.roomy()
}

// removed ends the objects of pods whose Node object is gone.
func (s *script) removed(m int32) {
	x := &s.machines[m]
	unmarked := slices.Sorted(slices.Values(x.pods))
	for _, p := range unmarked {
		s.unbind(p)
	}
	all := append(slices.Clone(x.marked), unmarked...)
	slices.Sort(all)
	for _, p := range all {
		s.emit(PodRemoved, m, p)
	}
	s.machines[m].marked = nil
	s.elsewhere(unmarked)
}
