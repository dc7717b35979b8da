package capacity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity/workload"
)

// Play runs the reference allocators on a workload trace. The trace may be of another cluster with
// the same nodes, load and trouble.
//
// The error wraps ErrNotModelled.
func Play(c *Cluster, t *workload.Trace) (*Course, error) {
	p, err := NewPlayer(c, t)
	if err != nil {
		return nil, err
	}
	for e := range t.Events() {
		if err := p.Do(e); err != nil {
			return nil, err
		}
	}
	return p.Course(), nil
}

// Player runs a workload trace on a cluster that the reference allocators manage.
type Player struct {
	c       *Cluster
	trace   *workload.Trace
	manager Allocator
	course  Course
	now     time.Duration

	stations  []*Machine
	numbers   map[string]int32
	pods      []*Pod // by number; nil once the object is gone
	residents map[model.PodRef]int32
	changed   []model.PodRef
	bound     int // pods on nodes that are up
	waiting   int // of these: without an address
	queue     queue
	freed     uint64 // number of events that may have freed an address
	lacking   []*Machine
	lacked    uint64 // freed at their last attempt
	fabric    fabric

	// Tried, if not nil, is called for every attempt of a pod after its first, before its
	// result.
	Tried func(at time.Duration, pod model.PodRef)

	// Tireless makes every attempt, also hopeless ones, for tests that shortcuts change
	// nothing.
	Tireless bool
}

// NewPlayer returns a player with the initial cluster. Its error wraps ErrNotModelled.
func NewPlayer(c *Cluster, t *workload.Trace) (*Player, error) {
	p := &Player{c: c, trace: t, residents: map[model.PodRef]int32{}, numbers: map[string]int32{}, course: Course{Since: c.Judged(), Exhausted: Never}}
	if len(c.Migration) > 0 {
		p.course.Migration = &Migration{End: Never}
	}
	p.fabric.init(c)
	if err := p.open(); err != nil {
		return nil, refusal(err)
	}
	for i := range c.Nodes {
		if err := p.joins(int32(i), c.Nodes[i]); err != nil {
			return nil, refusal(err)
		}
	}
	claimed := claimsOf(c.Record)
	for i := range c.Pods {
		r := &c.Pods[i]
		p.residents[r.Ref] = int32(i)
		n, ok := p.numbers[r.Node]
		if !ok {
			p.pods = append(p.pods, nil)
			continue
		}
		x := p.bind(int32(i), n)
		x.Container, x.Addrs, x.Reported = r.Container, r.Addrs, r.Addrs
		x.Unclaimed = claimed.lacking(r)
		p.manager.Adopt(x)
	}
	p.course.Peak = p.manager.InUse()
	return p, nil
}

// refusal converts an error of a reference to the error of a point.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("capacity: %w: %w", ErrNotModelled, err)
}

// Do runs one event. Its error wraps ErrNotModelled; the player is then unusable.
func (p *Player) Do(e workload.Event) error {
	if err := p.retry(e.At); err != nil {
		return refusal(err)
	}
	if err := p.later(e.At); err != nil {
		return refusal(err)
	}
	p.now = e.At
	return refusal(p.do(e))
}

func (p *Player) do(e workload.Event) error {
	switch e.Kind {
	case workload.NodeJoins:
		return p.joins(e.Node, p.trace.Node(e.Node))
	case workload.NodeDown:
		p.down(p.stations[e.Node])
	case workload.NodeUp:
		return p.up(p.stations[e.Node])
	case workload.NodeDeleted:
		p.stations[e.Node].Registered = false
		p.freed++
		return p.manager.Deleted(p.stations[e.Node])
	case workload.PodStarts:
		x := p.bind(e.Pod, e.Node)
		return p.start(x)
	case workload.PodStops:
		return p.stop(p.pods[e.Pod])
	case workload.PodMarked:
		x := p.pods[e.Pod]
		x.Marked = true
		p.touch(x)
		p.manager.Orphaned(x)
	case workload.PodRemoved:
		x := p.pods[e.Pod]
		p.gone(x)
		if !x.Marked {
			p.manager.Orphaned(x)
		}
	case workload.Pass:
		p.freed++
		err := p.manager.Pass(p.now, p.changed)
		p.changed = p.changed[:0]
		return err
	case workload.TakeSample:
		p.sample()
	case workload.StepBegins:
		return p.begins(e.Node)
	case workload.StepEnds:
		p.ends(e.Node, e.Pod)
	case workload.TakeStepSample:
		p.course.Migration.Saw(p.sampleNow())
	}
	return nil
}

// Course returns the result so far.
func (p *Player) Course() *Course { return &p.course }

func (p *Player) joins(i int32, n workload.Node) error {
	p.stations = append(p.stations, &Machine{Node: n, Number: i, Up: true, Registered: true})
	p.numbers[n.Name] = i
	p.freed++
	err := p.manager.Joins(p.stations[i])
	p.course.Peak = max(p.course.Peak, p.manager.InUse()) // includes devices
	return err
}

func (p *Player) bind(number, node int32) *Pod {
	n := p.stations[node]
	x := &Pod{Ref: p.trace.Pod(number), Node: n, number: number, at: int32(len(n.pods))}
	n.pods = append(n.pods, number)
	p.pods = append(p.pods, x)
	p.touch(x)
	p.bound++
	return x
}

func (p *Player) touch(x *Pod) { p.changed = append(p.changed, x.Ref) }

// gone removes a pod's object.
func (p *Player) gone(x *Pod) {
	p.touch(x)
	n := x.Node
	last := n.pods[len(n.pods)-1]
	n.pods[x.at] = last
	p.pods[last].at = x.at
	n.pods = n.pods[:len(n.pods)-1]
	p.pods[x.number] = nil
	if n.Up {
		p.bound--
		if x.waits {
			p.waiting--
		}
	}
	x.waits = false
}

// start creates a pod's next sandbox.
func (p *Player) start(x *Pod) error {
	p.waiting++
	x.waits = true
	x.tries++
	return p.try(x)
}

// try runs one ADD. A pod that gets no address retries.
func (p *Player) try(x *Pod) error {
	p.course.Adds++
	x.sandboxes++
	x.Container = x.Ref.Name + "-" + strconv.Itoa(x.sandboxes)
	addrs, err := p.manager.Add(x)
	if err != nil {
		x.Container = ""
		if errors.Is(err, ErrNotModelled) {
			return err
		}
		x.at0, x.refused = p.freed, errors.Is(err, ErrNoAddress)
		p.refuse(x)
		p.queue.push(again{p.now + workload.Retry, x, x.tries})
		return nil
	}
	x.waits = false
	p.waiting--
	x.Addrs, x.Reported, x.Unclaimed = addrs, addrs, 0
	p.touch(x)
	p.course.Peak = max(p.course.Peak, p.manager.InUse())
	return nil
}

func (p *Player) refuse(x *Pod) {
	if !x.refused {
		return
	}
	p.course.Wanted(p.now)
}

// retry runs the attempts of waiting pods up to and including an instant. A hopeless attempt
// counts without being made.
func (p *Player) retry(until time.Duration) error {
	for {
		w, ok := p.queue.due(until)
		if !ok {
			return nil
		}
		if !w.pod.waits || w.pod.tries != w.tries {
			continue
		}
		if err := p.later(w.at); err != nil {
			return err
		}
		p.now = w.at
		if p.Tried != nil {
			p.Tried(w.at, w.pod.Ref)
		}
		if !p.Tireless && (w.pod.at0 == p.freed || w.pod.refused && p.manager.Hopeless(w.pod.Node)) {
			p.course.Adds++
			w.pod.sandboxes++
			p.refuse(w.pod)
			p.queue.push(again{p.now + workload.Retry, w.pod, w.tries})
			continue
		}
		if err := p.try(w.pod); err != nil {
			return err
		}
	}
}

// Restarts is the number of groups of nodes whose processes retry at the end of a step in turn;
// the group is the node's number modulo Restarts.
const Restarts = 64

// later ends the current step if an instant is in a later one: processes without an address retry
// if one may have become free.
func (p *Player) later(at time.Duration) error {
	if step := max(p.c.Apart, 1); at/step == p.now/step || len(p.lacking) == 0 || p.lacked == p.freed && !p.Tireless {
		return nil
	}
	p.lacked = p.freed
	all := p.lacking
	p.lacking = nil
	slices.SortFunc(all, func(a, b *Machine) int { return int(a.Number%Restarts - b.Number%Restarts) })
	for _, n := range all {
		if n.Up && n.Registered {
			if err := p.manager.Up(n); err != nil {
				return err
			}
		}
	}
	p.course.Peak = max(p.course.Peak, p.manager.InUse())
	return nil
}

func (p *Player) stop(x *Pod) error {
	if x.Container != "" {
		p.freed++
		if err := p.manager.Del(x, x.Container); err != nil {
			return err
		}
	}
	p.gone(x)
	return nil
}

// down cuts a node's power: its sandboxes are lost, and its kubelet finds their records when power
// is back.
func (p *Player) down(n *Machine) {
	n.Up = false
	p.bound -= len(n.pods)
	for _, i := range n.pods {
		x := p.pods[i]
		if x.waits {
			p.waiting--
			x.waits = false
		}
		if x.Container != "" {
			n.disk = append(n.disk, sandbox{x, x.Container})
			x.Container, x.Addrs, x.Lost, x.Unclaimed = "", nil, x.Addrs, 0
		}
	}
}

func (p *Player) up(n *Machine) error {
	n.Up = true
	p.bound += len(n.pods)
	p.freed++
	if err := p.manager.Up(n); err != nil {
		return err
	}
	p.course.Peak = max(p.course.Peak, p.manager.InUse())
	slices.SortFunc(n.disk, func(a, b sandbox) int { return int(a.pod.number - b.pod.number) })
	for _, s := range n.disk {
		s.pod.Lost = nil
		if err := p.manager.Del(s.pod, s.container); err != nil {
			return err
		}
	}
	n.disk = nil
	pods := slices.Sorted(slices.Values(n.pods))
	for _, i := range pods {
		if p.pods[i].Marked {
			p.gone(p.pods[i])
		}
	}
	for _, i := range pods {
		if x := p.pods[i]; x != nil {
			if err := p.start(x); err != nil {
				return err
			}
		}
	}
	return nil
}
