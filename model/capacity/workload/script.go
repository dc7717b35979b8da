package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// script generates the events of a workload trace, one after another.
type script struct {
	*Trace
	yield func(Event) bool
	over  bool

	now      time.Duration
	agenda   eventQueue
	schedule *scheduler
	machines []machine
	names    *names
	pods     []bound         // of every pod there has been
	born     []time.Duration // of every pod; nil if lifetimes have no memory
	missing  int             // pods that have not been started yet
	opening  int             // of these: of the beginning
	filling  bool            // which is on the agenda
	pace     time.Duration
	moving   moving

	// With Cluster.Apart: what waits for its turn, and when that is.
	work   []entry
	free   time.Duration
	called bool // work is on the agenda

	// A stream for each thing that is drawn, so that more of one does not change
	// another.
	population, lifetime, drain, crash, replace, scale *rand.Rand
	lifetimes                                          [2]hazard // by kind
	stream                                             *stream   // of arrivals
}

// bound is where a pod is: on a machine, -1 for nowhere, and there in its list.
type bound struct {
	machine, at int32
	first       bool // with the sandbox that it had at the beginning
	kind        kind
}

// kind of a pod.
type kind uint8

const (
	standing kind = iota // another takes its place when it ends
	arrived              // see Arrivals
)

// machine is a node from when it joins to the end of the trace.
type machine struct {
	place  int32
	state  state
	since  time.Duration
	pods   []int32 // pods whose objects are bound to it and not marked
	marked []int32
	leaves bool  // it is drained to be switched off
	first  int32 // the machine that first stood in this place
	nth    int   // how many have since
}

// state of a machine.
type state uint8

const (
	serving state = iota
	drained
	down
	deleted
)

func newScript(t *Trace, yield func(Event) bool) *script {
	c := t.c
	s := &script{Trace: t, yield: yield, schedule: newScheduler(max(len(c.Nodes)+c.Load.Grow, 1)), names: newNames(c.Nodes)}
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(t.seed, n)) }
	s.population, s.lifetime, s.drain, s.crash, s.replace, s.scale = stream(1), stream(2), stream(3), stream(4), stream(5), stream(6)
	if c.Load.Arrivals.PerHour > 0 {
		s.stream = newStream(&c.Load, stream(7))
	}
	s.setLifetimes()
	t.nodes, t.unplaced, t.waiting, t.Drains = slices.Clone(c.Nodes), 0, 0, 0
	at := make(map[string]int32, len(c.Nodes))
	for i := range c.Nodes {
		at[c.Nodes[i].Name] = int32(i)
		s.stands(int32(i), -1)
	}
	for i := range c.Pods {
		s.add(kindOf(&c.Pods[i]))
		s.pods[i].machine = -1
		if m, ok := at[c.Pods[i].Node]; ok {
			s.bind(int32(i), m)
			s.settled(int32(i), c.Pods[i].Age)
			s.pods[i].first = true
		}
	}
	return s
}

// run makes all events.
func (s *script) run() {
	c := s.c
	if c.Load.Pods > 0 {
		s.missing = c.Load.Pods
	}
	s.missing = max(s.missing-s.residents(), 0)
	s.opening = s.missing
	s.pace = max(c.Apart, min(moment, 10*time.Minute/time.Duration(max(s.missing, 1))))
	s.fill()
	if len(c.Migration) > 0 {
		s.agenda.add(moment, actStep, 0)
	}
	for i := range c.Load.Grow {
		at := c.Load.GrowAt
		if at == 0 {
			n := time.Duration(c.Load.Grow + 1)
			at = c.Horizon/n*time.Duration(i+1) + c.Horizon%n*time.Duration(i+1)/n
		}
		s.agenda.add(at, actGrow, int32(i))
	}
	s.nextMore(1)
	s.arriving()
	s.agenda.add(0, actLook, 0)
	s.nextPass(1)
	for !s.over {
		e, ok := s.agenda.pop()
		if !ok || e.at > c.Horizon {
			return
		}
		s.now = e.at
		s.meet(e)
	}
}

// meet executes an event that is due, or delays it until its turn.
func (s *script) meet(e entry) {
	switch e.act {
	case actLook:
		s.emit(TakeSample, -1, -1)
		if i := e.who + 1; int(i) < s.c.SampleCount() {
			s.agenda.add(s.c.sampleTime(int(i)), actLook, i)
		}
	case actPass:
		s.emit(Pass, -1, -1)
		s.nextPass(e.who + 1)
	case actEvict:
		s.evict(e.who)
	case actRemoved:
		s.removed(e.who)
	case actDrained:
		s.reopen(e.who)
	case actWork:
		s.called = false
		for len(s.work) > 0 && s.turn() <= s.now {
			first := s.work[0]
			s.work = s.work[1:]
			s.do(first)
		}
		s.call()
	default:
		if s.c.Apart > 0 {
			s.work = append(s.work, e)
			s.call()
			return
		}
		s.do(e)
	}
}

// turn is when the address manager has the next thing to do, at the earliest.
func (s *script) turn() time.Duration {
	apart := s.c.Apart
	at := (max(s.now, s.free) + apart - 1) / apart * apart
	for range 4 { // else looks are closer together than this
		if !s.nearLook(at, apart/2) {
			break
		}
		at += apart
	}
	return at
}

// nearLook reports whether an instant is less than some time away from a sample.
func (s *script) nearLook(at, near time.Duration) bool {
	step := max(s.c.Horizon/time.Duration(s.c.SampleCount()-1), 1)
	for i := at/step - 1; i <= at/step+1; i++ {
		if i >= 0 && int(i) < s.c.SampleCount() && (at-s.c.sampleTime(int(i))).Abs() < near {
			return true
		}
	}
	return false
}

func (s *script) call() {
	if len(s.work) > 0 && !s.called {
		s.called = true
		s.agenda.add(s.turn(), actWork, 0)
	}
}

// nextPass puts the n-th pass on the agenda.
func (s *script) nextPass(n int32) {
	every, apart := s.c.Collect.Every, s.c.Apart
	if every <= 0 {
		return
	}
	at := time.Duration(n) * every
	if apart > 0 {
		at = at/apart*apart + apart/2
		if s.nearLook(at, apart/2) {
			at += apart
		}
		at = max(at, s.now+1)
	}
	s.agenda.add(at, actPass, n)
}

// do is what happens to one node or pod.
func (s *script) do(e entry) {
	before := s.free
	s.free = s.now + s.c.Apart
	switch e.act {
	case actGrow:
		s.grow(e.who)
	case actDrain, actCrash, actReplace:
		s.trouble(e)
	case actUp:
		s.up(e.who)
	case actReplaced:
		s.replaced(e.who)
	case actOff:
		s.off(e.who)
	case actEmpty:
		s.empty(e.who)
	case actStop:
		if !s.stop(e.who, s.pods[e.who].kind == standing) {
			s.free = before
		}
	case actStart:
		s.start(kind(e.who), false)
	case actFill:
		if s.missing > 0 {
			s.missing--
			s.opening--
			s.start(standing, s.opening >= 0)
		}
		s.filling = false
		s.fill()
	case actStep:
		s.step(e.who)
	case actRestart:
		if !s.restart() {
			s.free = before
		}
	case actReturn:
		s.comesBack(e.who)
	case actMore:
		s.more(e.who)
	case actArrive:
		s.arrive(e)
	}
}

// fill starts missing pods, one after another.
func (s *script) fill() {
	if s.missing > 0 && !s.filling {
		s.filling = true
		s.agenda.add(s.now+s.pace, actFill, 0)
	}
}

func (s *script) emit(k Kind, node, pod int32) {
	if !s.over && !s.yield(Event{s.now, k, node, pod}) {
		s.over = true
	}
}

// stands adds a machine, in the place of another or, with -1, in a new one.
func (s *script) stands(m, in int32) {
	room := cmp.Or(s.c.Load.MaxPods, MaxPodsDefault)
	if in >= 0 {
		p := &s.schedule.places[in]
		first := s.machines[p.machine].first
		s.machines = append(s.machines, machine{place: in, since: s.now, first: first, nth: s.machines[p.machine].nth + 1})
		p.machine, p.open, p.pods = m, true, 0
		s.schedule.changed(in)
		s.next(actReplace, in) // the other kinds are on the agenda still
		return
	}

	target := 1
	if d := &s.c.Load.PodsPerNode; s.c.Load.Pods == 0 && *d != (Distribution{}) {
		target = d.Draw(s.population)
		s.missing += target
	}
	in = s.schedule.add(place{machine: m, open: true, target: target, room: room})
	s.machines = append(s.machines, machine{place: in, since: s.now, first: m})
	for _, what := range []act{actDrain, actCrash, actReplace} {
		s.next(what, in)
	}
}

// MaxPodsDefault is how many pods a node takes.
//
// Source: k8s.io/kubernetes/pkg/kubelet/apis/config, MaxPods.
const MaxPodsDefault = 110

// grow lets one more machine join, like one of the first ones.
func (s *script) grow(i int32) {
	m := int32(len(s.nodes))
	like := Node{}
	if n := len(s.c.Nodes); n > 0 {
		like = s.c.Nodes[int(i)%n]
	}
	s.nodes = append(s.nodes, s.names.like(&like, fmt.Sprintf("node-%d", m)))
	s.emit(NodeJoins, m, -1)
	s.stands(m, -1)
	s.fill()
	s.roomy()
}
