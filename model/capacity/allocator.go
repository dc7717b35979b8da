package capacity

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity/workload"
)

// Manager is an address manager as a cluster has configured it. What answers say of a
// manager they ask of the type behind it.
type Manager interface {
	// Open is its allocator at the beginning of a trial, with what the cluster of the
	// player has then: Cluster.Record, if it is one that runs. Nodes and pods come
	// afterwards, by Joins and Adopt. An error ends the trial without an answer.
	Open(p *Player) (*Allocator, error)
}

// Patient is a manager whose reconciler waits before it releases what has leaked.
type Patient interface {
	Manager
	// Grace is for how long, if Collect.Grace is 0.
	Grace() time.Duration
}

// Allocator is an address manager in one trial: functions that a Player calls one after
// the other. Add, Del and Record are required; of everything else, nil says that the
// manager does not have it, or that the default will do. An error of any of them, but for
// that of Add and a RefusedStep, ends the trial without an answer.
type Allocator struct {
	// Add gives a pod's sandbox, Pod.Container, its addresses, in the order of the
	// cluster's networks and of the ranges in each. What a refused ADD has taken is
	// released again before it returns, as the kubelet does. The error is ErrNoAddress if
	// the node has no address to give, and wraps ErrNotModelled if nobody knows; after any
	// other one the pod tries again, too.
	Add func(p *Pod) ([]netip.Addr, error)
	// Del releases what a sandbox of a pod has, perhaps one that its node lost with its
	// power. It may have nothing.
	Del func(p *Pod, container string) error
	// Record is what the datastore claims, each for a Pod.Container.
	Record func() model.Snapshot

	// Joins, Deleted and Up tell of nodes: of each one that there is at the beginning or
	// that joins, of a Node object that goes, and of power that is back.
	Joins, Deleted, Up func(n *Machine) error
	// Adopt takes over a pod that runs already, whose addresses are in the record.
	Adopt func(p *Pod)
	// Orphaned: nobody but the reconciler will release what a pod's lost sandbox had,
	// Pod.Lost, unless its node comes back.
	Orphaned func(p *Pod)
	// Pass of the reconciler; changed are the pods of which something is another since
	// the last one.
	Pass func(now time.Duration, changed []model.PodRef) error
	// Hopeless: every ADD on the node will end with ErrNoAddress. False: perhaps.
	Hopeless func(n *Machine) bool
	// Step does a step of the migration, of any kind but RestartPods, which it is told of.
	// The error is a RefusedStep if the datastore does not allow it now.
	Step func(s *workload.Step) error

	// InUse is how many addresses are claimed; nil: the claims of the record.
	InUse func() int
	// Networks are the policy now; nil: Cluster.Networks.
	Networks func() []model.Network
	// Count takes a census; nil: it is counted out of the record.
	Count func() Census
	// Attached are a pod's addresses by network; nil: as many of each of the networks, as
	// net1, net2 and so on, as it has ranges.
	Attached func(p *Pod) []model.Attachment
	// Devices are the nodes' own, which answer to an address as a pod would: sandboxes
	// whose pods have no namespace.
	Devices func() []model.Sandbox
}

// ErrNotModelled is wrapped by the error of a cluster that the reference
// allocators cannot answer for; it is never guessed.
var ErrNotModelled = errors.New("the reference cannot tell")

// ErrNoAddress: no address is left that the node may hand out.
var ErrNoAddress = errors.New("no address is left for the node")

// NotModelled is an error that wraps ErrNotModelled, too, and reads as it did.
func NotModelled(err error) error { return notModelled{err} }

type notModelled struct{ error }

func (e notModelled) Unwrap() []error { return []error{ErrNotModelled, e.error} }

// RefusedStep is why the datastore refuses a step of a migration.
type RefusedStep struct{ error }

// Refused is a RefusedStep for a reason.
func Refused(why error) error { return RefusedStep{why} }

// Machine is a node of a trial. It is only read.
type Machine struct {
	workload.Node
	Number         int32 // in the order in which nodes come
	Up, Registered bool  // it has power; its Node object exists

	pods []int32 // whose objects are bound to it
	disk []sandbox
}

// Pod is one whose object exists. It is only read.
type Pod struct {
	Ref       model.PodRef
	Node      *Machine
	Container string       // of the sandbox that is alive, or gets its addresses; "": none
	Addrs     []netip.Addr // of that
	Reported  []netip.Addr // in the pod's status
	Unclaimed int          // of Addrs: no claim is its sandbox's, as of a cluster that was imported
	Lost      []netip.Addr // of a sandbox that was lost with its node's power
	Marked    bool         // for deletion

	number    int32
	at        int32  // in the list of its node
	sandboxes int    // there have been
	tries     uint32 // how often it began to wait
	waits     bool
	refused   bool   // the last try ended with ErrNoAddress
	at0       uint64 // Player.freed then
}

// sandbox is what a node remembers of one that was lost with its power.
type sandbox struct {
	pod       *Pod
	container string
}

// Cluster is the one that the player lives through. It is only read.
func (p *Player) Cluster() *Cluster { return p.c }

// Seed is that of the trial.
func (p *Player) Seed() uint64 { return p.tape.Seed() }

// Machines are all nodes that there have been, by number.
func (p *Player) Machines() []*Machine { return p.stations }

// Pods are those whose objects exist, by number.
func (p *Player) Pods() iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		for _, x := range p.pods {
			if x != nil && !yield(x) {
				return
			}
		}
	}
}

// Pod is the one of a name, or nil if its object does not exist.
func (p *Player) Pod(ref model.PodRef) *Pod {
	i, ok := p.residents[ref]
	if !ok {
		i, ok = p.tape.Number(ref)
	}
	if !ok || int(i) >= len(p.pods) {
		return nil
	}
	return p.pods[i]
}

// Chance: upstream leaves something to chance now, see Course.Chance.
func (p *Player) Chance() {
	if p.course.Chance == 0 {
		p.course.Chance = p.now
	}
}

// Lacks: a node's own process got no address. It ends, and is started again, by Up, when
// something may have freed one.
func (p *Player) Lacks(n *Machine) {
	if !slices.Contains(p.lacking, n) {
		p.lacking = append(p.lacking, n)
	}
}

// open the manager's allocator, with what it leaves to defaults.
func (p *Player) open() error {
	if p.c.Manager == nil {
		return errors.New("no address manager")
	}
	a, err := p.c.Manager.Open(p)
	if err != nil {
		return err
	}
	if a.Add == nil || a.Del == nil || a.Record == nil {
		return fmt.Errorf("%T: an allocator without Add, Del or Record", p.c.Manager)
	}
	of := func(f *func(*Machine) error) {
		if *f == nil {
			*f = func(*Machine) error { return nil }
		}
	}
	p.manager = *a
	m := &p.manager
	of(&m.Joins)
	of(&m.Deleted)
	of(&m.Up)
	if m.Adopt == nil {
		m.Adopt = func(*Pod) {}
	}
	if m.Orphaned == nil {
		m.Orphaned = func(*Pod) {}
	}
	if m.Pass == nil {
		m.Pass = func(time.Duration, []model.PodRef) error { return nil }
	}
	if m.Hopeless == nil {
		m.Hopeless = func(*Machine) bool { return false }
	}
	if m.Step == nil {
		m.Step = func(s *workload.Step) error { return fmt.Errorf("%T: a migration, %s", p.c.Manager, s.Kind) }
	}
	if m.InUse == nil {
		m.InUse = func() int { return len(m.Record().Claims) }
	}
	if m.Networks == nil {
		m.Networks = func() []model.Network { return p.c.Networks }
	}
	if m.Attached == nil {
		m.Attached = p.attached
	}
	if m.Devices == nil {
		m.Devices = func() []model.Sandbox { return nil }
	}
	return nil
}

// attached are a pod's addresses by network, as many of each as it has ranges.
func (p *Player) attached(x *Pod) (out []model.Attachment) {
	rest := x.Addrs
	for i, n := range p.manager.Networks() {
		k := min(max(len(n.Ranges), 1), len(rest))
		out = append(out, model.Attachment{Network: n.Key, Interface: fmt.Sprint("net", i+1), Addrs: rest[:k]})
		rest = rest[k:]
	}
	return out
}
