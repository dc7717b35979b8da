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

// Manager is an address manager with a cluster's configuration. Answers use its concrete type.
type Manager interface {
	// Open returns an allocator for a trial, with the records of a running cluster
	// (Cluster.Record) if there are any. Joins and Adopt add nodes and pods afterwards. An
	// error ends the trial without an answer.
	Open(p *Player) (*Allocator, error)
}

// Patient is a manager whose reconciler waits before it releases a leaked address.
type Patient interface {
	Manager
	// Grace returns the default of Collect.Grace.
	Grace() time.Duration
}

// Allocator is an address manager in one trial: functions that a Player calls sequentially. Add,
// Del and Record are required; nil for another means not supported or the default. An error, except
// of Add and a RefusedStep, ends the trial without an answer.
type Allocator struct {
	// Add assigns addresses to a pod's sandbox, Pod.Container, in the order of the cluster's
	// networks and their ranges. A refused ADD releases what it claimed before it returns,
	// as after the kubelet's DEL. The error is ErrNoAddress if the node has no free address,
	// and wraps ErrNotModelled if the result is unknown. The pod retries after every error.
	Add func(p *Pod) ([]netip.Addr, error)
	// Del releases the addresses of a pod's sandbox, which may be a lost one. It may have
	// none.
	Del func(p *Pod, container string) error
	// Record returns the claims of the datastore, each for a Pod.Container.
	Record func() model.Snapshot

	// Joins, Deleted and Up report node events: an initial or new node, the deletion of a
	// Node object, and restored power.
	Joins, Deleted, Up func(n *Machine) error
	// Adopt adds an initial pod, whose addresses are in the record.
	Adopt func(p *Pod)
	// Orphaned reports a pod whose lost sandbox (Pod.Lost) only the reconciler releases, unless
	// its node comes back.
	Orphaned func(p *Pod)
	// Pass runs the reconciler; changed lists the pods changed since the last pass.
	Pass func(now time.Duration, changed []model.PodRef) error
	// Hopeless reports whether every ADD on the node returns ErrNoAddress; false if unknown.
	Hopeless func(n *Machine) bool
	// Step runs a step of the migration. RestartPods is only reported to it. The error is a
	// RefusedStep if the datastore does not allow the step now.
	Step func(s *workload.Step) error

	// InUse counts the claimed addresses; nil: the claims of the record.
	InUse func() int
	// Networks returns the current policy; nil: Cluster.Networks.
	Networks func() []model.Network
	// Count fills in a sample; nil: from the record.
	Count func() Census
	// Attached returns a pod's addresses by network; nil: net1, net2 and so on, with as many
	// addresses as the network has ranges.
	Attached func(p *Pod) []model.Attachment
	// Devices returns the nodes' devices with addresses, as sandboxes whose pods have no
	// namespace.
	Devices func() []model.Sandbox
}

// ErrNotModelled is wrapped by errors for clusters that the reference allocators do not model.
var ErrNotModelled = errors.New("the reference does not model it")

// ErrNoAddress: the node has no free address.
var ErrNoAddress = errors.New("no address is left for the node")

// NotModelled wraps an error with ErrNotModelled and keeps its text.
func NotModelled(err error) error { return notModelled{err} }

type notModelled struct{ error }

func (e notModelled) Unwrap() []error { return []error{ErrNotModelled, e.error} }

// RefusedStep is the reason why the datastore refuses a migration step.
type RefusedStep struct{ error }

// Refused returns a RefusedStep with a reason.
func Refused(why error) error { return RefusedStep{why} }

// Machine is a node of a trial. It is only read.
type Machine struct {
	workload.Node
	Number         int32 // in the order of appearance
	Up, Registered bool  // has power; has a Node object

	pods []int32 // bound to it
	disk []sandbox
}

// Pod is a pod whose object exists. It is read-only.
type Pod struct {
	Ref       model.PodRef
	Node      *Machine
	Container string       // of the live or starting sandbox; "": none
	Addrs     []netip.Addr // of that
	Reported  []netip.Addr // in the pod's status
	Unclaimed int          // of Addrs: without a claim of its sandbox, in an imported cluster
	Lost      []netip.Addr // of a sandbox lost with its node's power
	Marked    bool         // for deletion

	number    int32
	at        int32  // in the list of its node
	sandboxes int    // there have been
	tries     uint32 // how often it started to wait
	waits     bool
	refused   bool   // the last attempt returned ErrNoAddress
	at0       uint64 // Player.freed then
}

// sandbox is a sandbox lost with its node's power.
type sandbox struct {
	pod       *Pod
	container string
}

// Cluster returns the simulated cluster. It is read-only.
func (p *Player) Cluster() *Cluster { return p.c }

// Seed returns the seed of the trial.
func (p *Player) Seed() uint64 { return p.trace.Seed() }

// Machines returns all past and present nodes, by number.
func (p *Player) Machines() []*Machine { return p.stations }

// Pods returns the pods whose objects exist, by number.
func (p *Player) Pods() iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		for _, x := range p.pods {
			if x != nil && !yield(x) {
				return
			}
		}
	}
}

// Pod returns the pod of a name, or nil if its object does not exist.
func (p *Player) Pod(ref model.PodRef) *Pod {
	i, ok := p.residents[ref]
	if !ok {
		i, ok = p.trace.Number(ref)
	}
	if !ok || int(i) >= len(p.pods) {
		return nil
	}
	return p.pods[i]
}

// Chance records a random decision of upstream, see Course.Chance.
func (p *Player) Chance() {
	if p.course.Chance == 0 {
		p.course.Chance = p.now
	}
}

// Lacks records that a process of a node got no address and exited. Up restarts it when an address
// may have become free.
func (p *Player) Lacks(n *Machine) {
	if !slices.Contains(p.lacking, n) {
		p.lacking = append(p.lacking, n)
	}
}

// open returns the manager's allocator with defaults filled in.
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

// attached returns a pod's addresses by network, one for each range.
func (p *Player) attached(x *Pod) (out []model.Attachment) {
	rest := x.Addrs
	for i, n := range p.manager.Networks() {
		k := min(max(len(n.Ranges), 1), len(rest))
		out = append(out, model.Attachment{Network: n.Key, Interface: fmt.Sprint("net", i+1), Addrs: rest[:k]})
		rest = rest[k:]
	}
	return out
}
