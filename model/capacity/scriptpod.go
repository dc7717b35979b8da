package capacity

import "time"

// bind puts a pod on a machine.
func (s *script) bind(pod, m int32) {
	x := &s.machines[m]
	s.pods[pod] = bound{machine: m, at: int32(len(x.pods))}
	x.pods = append(x.pods, pod)
	s.schedule.places[x.place].pods++
	s.schedule.changed(x.place)
}

// ages draws how long a pod lives.
func (s *script) ages(pod int32) {
	if mean := s.c.Load.Lifetime; mean > 0 {
		s.agenda.add(s.now+after(s.lifetime, mean), actStop, pod)
	}
}

// unbind takes it away.
func (s *script) unbind(pod int32) {
	b := s.pods[pod]
	x := &s.machines[b.machine]
	last := x.pods[len(x.pods)-1]
	x.pods[b.at], s.pods[last].at = last, b.at
	x.pods = x.pods[:len(x.pods)-1]
	s.pods[pod].machine = -1
	if p := &s.schedule.places[x.place]; p.machine == b.machine {
		p.pods--
		s.schedule.changed(x.place)
	}
}

// start binds one more pod, or lets it wait for room.
func (s *script) start() {
	in := s.schedule.choose()
	if in < 0 {
		s.unplaced++
		return
	}
	m, pod := s.schedule.places[in].machine, int32(len(s.pods))
	s.pods = append(s.pods, bound{})
	s.emit(PodStarts, m, pod)
	s.bind(pod, m)
	s.ages(pod)
	s.roomy()
}

// stop deletes a pod, and another takes its place a moment later. It does nothing,
// and says so, if the pod is gone, or its node has no power: how much longer it
// lives then is drawn anew, which for exponential lives is the same.
func (s *script) stop(pod int32) bool {
	pod, here := s.heir(pod)
	if !here {
		return false
	}
	m := s.pods[pod].machine
	if s.machines[m].state >= down {
		s.ages(pod)
		return false
	}
	s.emit(PodStops, m, pod)
	s.unbind(pod)
	s.elsewhere(1)
	return true
}

// elsewhere starts as many pods, at the pace at which a cluster does.
func (s *script) elsewhere(n int) {
	const pace = 10 * time.Millisecond // the scheduler binds about a hundred pods a second
	for i := range n {
		s.agenda.add(s.now+Moment+time.Duration(i)*pace, actStart, 0)
	}
}

// roomy lets one of the pods that have found no room try again.
func (s *script) roomy() {
	if s.unplaced > 0 && s.schedule.choose() >= 0 {
		s.unplaced--
		s.elsewhere(1)
	}
}
