package workload

import (
	"net/netip"
	"slices"
	"time"
)

// samplesOnTheWay is how many samples are taken while pods are restarted, about.
const samplesOnTheWay = 16

// moving is a migration on its way.
type moving struct {
	step  int32
	begun int32   // steps that were tried
	todo  []int32 // pods that are to be restarted
	every int     // after how many of these a sample is taken
	count int32   // that were restarted in this step
	// heirs are the successors of restarted pods, -1 until there is one; left are the machines
	// where the pods were.
	heirs map[int32]int32
	left  map[int32]int32
}

// step begins one, or tries it again.
func (s *script) step(i int32) {
	if s.moving.begun == i {
		s.moving.begun++
		s.emit(TakeStepSample, -1, -1)
	}
	s.free = s.now + 4*s.c.Apart // the real code deletes a pool in many messages, and waits
	s.Trace.refused = false
	s.emit(StepBegins, i, -1)
	switch step := &s.c.Migration[i]; {
	case s.Trace.refused:
		s.agenda.add(s.now+stepRetry, actStep, i)
	case step.Kind == RestartPods:
		todo := s.moved(step.Pools)
		s.moving.step, s.moving.todo, s.moving.every = i, todo, max(len(todo)/samplesOnTheWay, 1)
		s.agenda.add(s.now+moment, actRestart, 0)
	default:
		s.ended(i)
	}
}

// ended lets the next step begin.
func (s *script) ended(i int32) {
	s.emit(StepEnds, i, s.moving.count)
	s.moving.count = 0
	if next := i + 1; int(next) < len(s.c.Migration) {
		s.agenda.add(s.now+stepPause, actStep, next)
	}
}

// moved are the pods that a restart is about: all but those that run since the
// beginning and had no address of the pools then.
func (s *script) moved(pools []netip.Prefix) (out []int32) {
	for i := range s.pods {
		in := true
		if s.pods[i].first {
			in = slices.ContainsFunc(s.c.Pods[i].Addrs, func(a netip.Addr) bool {
				return slices.ContainsFunc(pools, func(p netip.Prefix) bool { return p.Contains(a) })
			})
		}
		if in && s.pods[i].machine >= 0 {
			out = append(out, int32(i))
		}
	}
	return out
}

// restart deletes the next pod, or ends the step if there is none. Pods of machines without
// power have to wait. It reports whether it deleted a pod.
func (s *script) restart() bool {
	m := &s.moving
	for range len(m.todo) {
		pod := m.todo[0]
		m.todo = m.todo[1:]
		at := s.pods[pod].machine
		switch {
		case at < 0:
			continue
		case s.machines[at].state >= down:
			m.todo = append(m.todo, pod)
			continue
		}
		if len(m.todo)%m.every == 0 {
			s.emit(TakeStepSample, -1, -1)
		}
		s.emit(PodStops, at, pod)
		s.unbind(pod)
		m.count++
		if m.heirs == nil {
			m.heirs, m.left = map[int32]int32{}, map[int32]int32{}
		}
		m.heirs[pod], m.left[pod] = -1, at
		s.agenda.add(s.now+moment, actReturn, pod)
		s.agenda.add(s.now+s.c.restartEvery(), actRestart, 0)
		return true
	}
	if len(m.todo) > 0 {
		s.agenda.add(s.now+stepPause, actRestart, 0)
		return false
	}
	s.ended(m.step)
	return false
}

func (c *Workload) restartEvery() time.Duration {
	if c.RestartEvery > 0 {
		return max(c.RestartEvery, 2*moment) // so that a deleted pod is back before the next is deleted
	}
	return restartDefault
}

// comesBack starts the replacement of a pod that was restarted, on the same machine if that
// still takes pods, because its count is one too low. The replacement gets the remaining
// lifetime of the original.
func (s *script) comesBack(pod int32) {
	at := s.moving.left[pod]
	delete(s.moving.left, pod)
	in := s.machines[at].place
	if p := &s.schedule.places[in]; p.machine != at || !p.open || p.pods >= p.room {
		in = s.schedule.choose()
	}
	if in < 0 {
		s.unplaced++ // the next pod that finds room is a different one
		delete(s.moving.heirs, pod)
		return
	}
	m, next := s.schedule.places[in].machine, int32(len(s.pods))
	s.pods = append(s.pods, bound{})
	s.emit(PodStarts, m, next)
	s.bind(next, m)
	s.moving.heirs[pod] = next
	s.roomy()
}

// heir returns the pod that now replaces a restarted pod, and whether one runs. Between the
// end of one and the start of the next the caller has to ask again.
func (s *script) heir(pod int32) (int32, bool) {
	for {
		next, ok := s.moving.heirs[pod]
		switch {
		case !ok:
			return pod, s.pods[pod].machine >= 0
		case next < 0:
			s.agenda.add(s.now+moment, actStop, pod)
			return pod, false
		}
		pod = next
	}
}
