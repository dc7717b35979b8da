package workload

import (
	"slices"
	"time"
)

// setLifetimes prepares the distribution that lifetimes are drawn from.
func (s *script) setLifetimes() {
	all := [...]Lifetimes{standing: s.c.Load.lifetimes(), arrived: s.c.Load.Arrivals.Lifetimes}
	for k := range all {
		if !all[k].Given() {
			continue
		}
		s.lifetimes[k] = hazardOf(&all[k])
		if !s.lifetimes[k].exponential() {
			s.born = []time.Duration{}
		}
	}
}

// add is one more pod, bound nowhere yet.
func (s *script) add(k kind) {
	s.pods = append(s.pods, bound{kind: k})
	if s.born != nil {
		s.born = append(s.born, s.now)
	}
}

// bind puts a pod on a machine.
func (s *script) bind(pod, m int32) {
	x := &s.machines[m]
	s.pods[pod].machine, s.pods[pod].at, s.pods[pod].first = m, int32(len(x.pods)), false
	x.pods = append(x.pods, pod)
	s.schedule.places[x.place].pods++
	s.schedule.changed(x.place)
}

// ages draws when a pod ends that has not ended yet.
func (s *script) ages(pod int32) {
	h := &s.lifetimes[s.pods[pod].kind]
	if h.rate == nil || h.exponential() && h.rate[0] == 0 {
		return // it stays
	}
	age := time.Duration(0)
	if s.born != nil {
		age = s.now - s.born[pod]
	}
	s.agenda.add(s.now+h.left(s.lifetime, age), actStop, pod)
}

// settled draws when a pod ends that was there before the plan began; age 0 is not
// known.
func (s *script) settled(pod int32, age time.Duration) {
	if h := &s.lifetimes[s.pods[pod].kind]; s.born != nil && h.rate != nil {
		if age <= 0 {
			age = h.among(s.lifetime)
		}
		s.born[pod] = s.now - age
	}
	s.ages(pod)
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

// start binds one more pod, or lets it wait for room. One of the beginning may be of
// any age.
func (s *script) start(k kind, beginning bool) {
	in := s.schedule.choose()
	if in < 0 {
		s.unplaced++
		if k == arrived {
			s.waiting++
		}
		return
	}
	m, pod := s.schedule.places[in].machine, int32(len(s.pods))
	s.add(k)
	s.emit(PodStarts, m, pod)
	s.bind(pod, m)
	if beginning {
		s.settled(pod, 0)
	} else {
		s.ages(pod)
	}
	s.roomy()
}

// stop deletes a pod and starts a replacement a moment later if again is set. It returns false
// without an effect if the pod is gone or its node has no power; the remaining lifetime is
// then drawn again for the pod's age.
func (s *script) stop(pod int32, again bool) bool {
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
	if again {
		s.elsewhere([]int32{pod})
	} else {
		s.roomy()
	}
	return true
}

// elsewhere starts others in the place of pods, at the pace at which a cluster does.
func (s *script) elsewhere(pods []int32) {
	const pace = 10 * time.Millisecond // the scheduler binds about a hundred pods a second
	for i, p := range pods {
		s.agenda.add(s.now+moment+time.Duration(i)*pace, actStart, int32(s.pods[p].kind))
	}
}

// roomy lets one of the pods that have found no room try again.
func (s *script) roomy() {
	if s.unplaced == 0 || s.schedule.choose() < 0 {
		return
	}
	k := standing
	if s.waiting == s.unplaced {
		k = arrived
		s.waiting--
	}
	s.unplaced--
	s.agenda.add(s.now+moment, actStart, int32(k))
}

// residents counts those of the beginning that are made again.
func (s *script) residents() (n int) {
	for i := range s.c.Pods {
		if kindOf(&s.c.Pods[i]) == standing {
			n++
		}
	}
	return n
}

func kindOf(p *Resident) kind {
	if p.Arrived {
		return arrived
	}
	return standing
}

// nextMore puts the n-th change of how many pods are meant to run on the agenda.
func (s *script) nextMore(n int32) {
	all := int32(s.c.Load.GrowPods)
	if all = max(all, -all); n > all {
		return
	}
	parts, i := time.Duration(all)+1, time.Duration(n)
	s.agenda.add(max(s.now, s.c.Horizon/parts*i+s.c.Horizon%parts*i/parts), actMore, n)
}

// more lets one pod more run than before, or one fewer.
func (s *script) more(n int32) {
	s.nextMore(n + 1)
	switch {
	case s.c.Load.GrowPods > 0:
		s.missing++
		s.fill()
	case s.missing > 0:
		s.missing--
	case s.unplaced > s.waiting:
		s.unplaced--
	default:
		s.fewer()
	}
}

// fewer ends one of those that would be made again, on a machine that runs: the first
// from some machine on.
func (s *script) fewer() {
	for first, i := s.scale.IntN(max(len(s.machines), 1)), 0; i < len(s.machines); i++ {
		x := &s.machines[(first+i)%len(s.machines)]
		if x.state >= down {
			continue
		}
		if at := slices.IndexFunc(x.pods, func(p int32) bool { return s.pods[p].kind == standing }); at >= 0 {
			s.stop(x.pods[at], false)
			return
		}
	}
}

// arriving lets the first arrivals come, and those that run already.
func (s *script) arriving() {
	a := &s.c.Load.Arrivals
	if s.stream == nil {
		return
	}
	running := a.Running
	if running == 0 {
		running = poisson(s.stream.r, a.Standing())
	}
	for i := range s.c.Pods {
		if s.c.Pods[i].Arrived {
			running--
		}
	}
	for i := range max(running, 0) {
		s.agenda.add(time.Duration(i+1)*s.pace, actArrive, -1)
	}
	s.agenda.add(s.stream.next(0), actArrive, int32(s.stream.size()))
}

// arrive is a batch of arrivals; of -1 pods it is one that came before the plan began.
func (s *script) arrive(e entry) {
	if e.who < 0 {
		s.start(arrived, true)
		return
	}
	s.agenda.add(max(s.now, s.stream.next(e.at)), actArrive, int32(s.stream.size())) // also if this one had to wait for its turn
	s.start(arrived, false)
	for i := 1; i < int(e.who); i++ {
		s.agenda.add(s.now+time.Duration(i)*10*time.Millisecond, actStart, int32(arrived))
	}
}
