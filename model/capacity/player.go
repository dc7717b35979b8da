package capacity

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/model/reference/calico"
	"ipamsim/model/reference/whereabouts"
)

// ErrNotModelled is wrapped by the error of a cluster that the reference
// allocators cannot answer for; it is never guessed.
var ErrNotModelled = errors.New("the reference cannot tell")

// Play lets the reference allocators live through a tape. The tape may be that of
// another cluster with the same nodes, load and trouble.
//
// The error wraps ErrNotModelled.
func Play(c *Cluster, t *Tape) (*Course, error) {
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

// manager is an address manager as a player uses it: one operation after another.
type manager interface {
	// joins, deleted and up tell of nodes; of those that are there at the beginning
	// joins does too.
	joins(n *station) error
	deleted(n *station) error
	up(n *station) error
	// adopt takes over a pod that runs already.
	adopt(p *pod)
	// orphaned: nobody but the reconciler will release what a pod's lost sandbox had,
	// unless its node comes back.
	orphaned(p *pod)
	// add gives a pod's sandbox its addresses. What a refused one has taken is
	// released again, as the kubelet does.
	add(p *pod) ([]netip.Addr, error)
	del(p *pod, container string) error
	// pass of the reconciler; changed are the pods of which something is another since
	// the last one.
	pass(now time.Duration, changed []model.PodRef) error
	// wanting reports whether an ADD was refused because the node has no address to
	// give.
	wanting(err error) bool
	// hopeless: every ADD on the node will be wanting. False: perhaps.
	hopeless(n *station) bool
	inUse() int
	// step does a step of the migration; the error is a refusedStep if the datastore
	// does not allow it now.
	step(s *Step) error
	record() model.Snapshot
	networks() []model.Network
	look(s *scene)
	attached(p *pod) []model.Attachment
	devices(v *metric.View)
}

// Player is a cluster that the reference allocators manage, while it lives through
// a tape.
type Player struct {
	c       *Cluster
	tape    *Tape
	manager manager
	course  Course
	now     time.Duration

	stations  []*station
	numbers   map[string]int32
	pods      []*pod // by number; nil once the object is gone
	residents map[model.PodRef]int32
	changed   []model.PodRef
	bound     int // pods on nodes that are up
	waiting   int // of these: without an address
	queue     queue
	tireless  bool   // makes every try, even one that cannot end otherwise
	freed     uint64 // how often something happened that may have freed an address
	lacking   []*station
	lacked    uint64 // freed when these tried last
	fabric    fabric
}

// station is a node.
type station struct {
	Node
	number         int32
	up, registered bool
	pods           []int32 // whose objects are bound to it
	disk           []sandbox
}

// sandbox is what a node remembers of one that was lost with its power.
type sandbox struct {
	pod       *pod
	container string
}

// pod is one whose object exists.
type pod struct {
	ref       model.PodRef
	number    int32
	at        int32 // in the list of its node
	node      *station
	sandboxes int    // there have been
	container string // of the one that is alive; "": none
	addrs     []netip.Addr
	reported  []netip.Addr // in the pod's status
	unclaimed int          // of addrs: no claim is its sandbox's, as of a cluster that was imported
	lost      []netip.Addr // of a sandbox that was lost with its node's power
	marked    bool
	tries     uint32 // how often it began to wait
	waits     bool
	refused   bool   // the last try was wanting
	at0       uint64 // Player.freed then
}

// NewPlayer is the cluster at the beginning. The error wraps ErrNotModelled.
func NewPlayer(c *Cluster, t *Tape) (*Player, error) {
	p := &Player{c: c, tape: t, residents: map[model.PodRef]int32{}, numbers: map[string]int32{}, course: Course{Since: c.Judged(), Exhausted: Never}}
	if len(c.Migration) > 0 {
		p.course.Migration = &Migration{End: Never}
	}
	p.fabric.init(c)
	var err error
	switch {
	case c.Calico != nil:
		p.manager, err = newCalico(p)
	case c.Whereabouts != nil:
		p.manager, err = newWhereabouts(p)
	default:
		err = errors.New("no address manager")
	}
	if err != nil {
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
		x.container, x.addrs, x.reported = r.Container, r.Addrs, r.Addrs
		x.unclaimed = claimed.lacking(r)
		p.manager.adopt(x)
	}
	p.course.Peak = p.manager.inUse()
	return p, nil
}

// refusal makes an error of a reference that of a point.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("capacity: %w: %w", ErrNotModelled, err)
}

// Do is one event. The error wraps ErrNotModelled; the player is of no use then.
func (p *Player) Do(e Event) error {
	if err := p.retry(e.At); err != nil {
		return refusal(err)
	}
	if err := p.later(e.At); err != nil {
		return refusal(err)
	}
	p.now = e.At
	return refusal(p.do(e))
}

func (p *Player) do(e Event) error {
	switch e.Kind {
	case NodeJoins:
		return p.joins(e.Node, p.tape.Node(e.Node))
	case NodeDown:
		p.down(p.stations[e.Node])
	case NodeUp:
		return p.up(p.stations[e.Node])
	case NodeDeleted:
		p.stations[e.Node].registered = false
		p.freed++
		return p.manager.deleted(p.stations[e.Node])
	case PodStarts:
		x := p.bind(e.Pod, e.Node)
		return p.start(x)
	case PodStops:
		return p.stop(p.pods[e.Pod])
	case PodMarked:
		x := p.pods[e.Pod]
		x.marked = true
		p.touch(x)
		p.manager.orphaned(x)
	case PodRemoved:
		x := p.pods[e.Pod]
		p.gone(x)
		if !x.marked {
			p.manager.orphaned(x)
		}
	case Pass:
		p.freed++
		err := p.manager.pass(p.now, p.changed)
		p.changed = p.changed[:0]
		return err
	case Look:
		p.sample()
	case StepBegins:
		return p.begins(e.Node)
	case StepEnds:
		p.ends(e.Node, e.Pod)
	case StepLook:
		p.course.Migration.Saw(p.look())
	}
	return nil
}

// Course is what came of it so far.
func (p *Player) Course() *Course { return &p.course }

func (p *Player) joins(i int32, n Node) error {
	p.stations = append(p.stations, &station{Node: n, number: i, up: true, registered: true})
	p.numbers[n.Name] = i
	p.freed++
	err := p.manager.joins(p.stations[i])
	p.course.Peak = max(p.course.Peak, p.manager.inUse()) // devices have addresses, too
	return err
}

func (p *Player) bind(number, node int32) *pod {
	n := p.stations[node]
	x := &pod{ref: p.tape.Pod(number), number: number, node: n, at: int32(len(n.pods))}
	n.pods = append(n.pods, number)
	p.pods = append(p.pods, x)
	p.touch(x)
	p.bound++
	return x
}

// pod is the one of a name, if its object exists.
func (p *Player) pod(ref model.PodRef) *pod {
	i, ok := p.residents[ref]
	if !ok {
		i, ok = p.tape.number(ref)
	}
	if !ok || int(i) >= len(p.pods) {
		return nil
	}
	return p.pods[i]
}

func (p *Player) touch(x *pod) { p.changed = append(p.changed, x.ref) }

// gone is the end of a pod's object.
func (p *Player) gone(x *pod) {
	p.touch(x)
	n := x.node
	last := n.pods[len(n.pods)-1]
	n.pods[x.at] = last
	p.pods[last].at = x.at
	n.pods = n.pods[:len(n.pods)-1]
	p.pods[x.number] = nil
	if n.up {
		p.bound--
		if x.waits {
			p.waiting--
		}
	}
	x.waits = false
}

// start makes a pod's next sandbox.
func (p *Player) start(x *pod) error {
	p.waiting++
	x.waits = true
	x.tries++
	return p.try(x)
}

// try is one ADD. A pod that gets no address tries again.
func (p *Player) try(x *pod) error {
	p.course.Adds++
	x.sandboxes++
	x.container = x.ref.Name + "-" + strconv.Itoa(x.sandboxes)
	addrs, err := p.manager.add(x)
	if err != nil {
		x.container = ""
		if errors.Is(err, calico.ErrNotModelled) || errors.Is(err, whereabouts.ErrNotModelled) {
			return err
		}
		x.at0, x.refused = p.freed, p.manager.wanting(err)
		p.refuse(x)
		p.queue.push(again{p.now + Retry, x, x.tries})
		return nil
	}
	x.waits = false
	p.waiting--
	x.addrs, x.reported, x.unclaimed = addrs, addrs, 0
	p.touch(x)
	p.course.Peak = max(p.course.Peak, p.manager.inUse())
	return nil
}

func (p *Player) refuse(x *pod) {
	if !x.refused {
		return
	}
	p.course.Wanted(p.now)
}

// retry lets pods that wait try again up to and including an instant. A try that
// cannot end otherwise than the one before counts without being made.
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
		if !p.tireless && (w.pod.at0 == p.freed || w.pod.refused && p.manager.hopeless(w.pod.node)) {
			p.course.Adds++
			w.pod.sandboxes++
			p.refuse(w.pod)
			p.queue.push(again{p.now + Retry, w.pod, w.tries})
			continue
		}
		if err := p.try(w.pod); err != nil {
			return err
		}
	}
}

// Restarts is how many nodes' processes try in turn at the end of a step; they are
// told apart by their number modulo this.
const Restarts = 64

// lacks: a node's own process got no address. It ends, and is started again.
func (p *Player) lacks(n *station) {
	if !slices.Contains(p.lacking, n) {
		p.lacking = append(p.lacking, n)
	}
}

// later is the end of a step, if an instant is in another one than now: processes
// try again that lack an address, if something may have freed one.
func (p *Player) later(at time.Duration) error {
	if step := max(p.c.Apart, 1); at/step == p.now/step || len(p.lacking) == 0 || p.lacked == p.freed && !p.tireless {
		return nil
	}
	p.lacked = p.freed
	all := p.lacking
	p.lacking = nil
	slices.SortFunc(all, func(a, b *station) int { return int(a.number%Restarts - b.number%Restarts) })
	for _, n := range all {
		if n.up && n.registered {
			if err := p.manager.up(n); err != nil {
				return err
			}
		}
	}
	p.course.Peak = max(p.course.Peak, p.manager.inUse())
	return nil
}

func (p *Player) stop(x *pod) error {
	if x.container != "" {
		p.freed++
		if err := p.manager.del(x, x.container); err != nil {
			return err
		}
	}
	p.gone(x)
	return nil
}

// down is the loss of a node's power: its sandboxes are no more, and its kubelet
// will know of them when it is back.
func (p *Player) down(n *station) {
	n.up = false
	p.bound -= len(n.pods)
	for _, i := range n.pods {
		x := p.pods[i]
		if x.waits {
			p.waiting--
			x.waits = false
		}
		if x.container != "" {
			n.disk = append(n.disk, sandbox{x, x.container})
			x.container, x.addrs, x.lost, x.unclaimed = "", nil, x.addrs, 0
		}
	}
}

func (p *Player) up(n *station) error {
	n.up = true
	p.bound += len(n.pods)
	p.freed++
	if err := p.manager.up(n); err != nil {
		return err
	}
	p.course.Peak = max(p.course.Peak, p.manager.inUse())
	slices.SortFunc(n.disk, func(a, b sandbox) int { return int(a.pod.number - b.pod.number) })
	for _, s := range n.disk {
		s.pod.lost = nil
		if err := p.manager.del(s.pod, s.container); err != nil {
			return err
		}
	}
	n.disk = nil
	pods := slices.Sorted(slices.Values(n.pods))
	for _, i := range pods {
		if p.pods[i].marked {
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
