package workload

import (
	"iter"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"ipamsim/model"
)

// Kind is the kind of an event.
type Kind uint8

// The kinds of events.
const (
	// NodeJoins: a node is registered and switched on, for the first time.
	NodeJoins Kind = iota
	// PodStarts: a pod was bound to a node; its ADD runs. A pod without an address retries
	// every Retry until it gets one or is deleted.
	PodStarts
	// PodStops: a pod of a node that is up was deleted: its DEL runs, then the object is
	// deleted.
	PodStops
	// PodRemoved: the object of a pod is removed by force, because its Node object was
	// deleted PodGC ago; no DEL runs. In the real cluster the node controllers do this.
	PodRemoved
	// NodeDown: power is lost, and all sandboxes of the node with it.
	NodeDown
	// NodeUp: power is back. The kubelet runs the DEL of every sandbox that it had,
	// then an ADD for each pod that is still bound to it; the objects of those that
	// were marked in the meantime are deleted after their DEL.
	NodeUp
	// NodeDeleted: the Node object of a removed machine is deleted.
	NodeDeleted
	// Pass: the reconciler runs a pass.
	Pass
	// TakeSample: a Sample is taken.
	TakeSample
	// PodMarked: a pod of a node that has been silent for Trouble.Evict is marked for
	// deletion by the taint manager. Its object stays until the node is back or its
	// Node object was deleted, since no kubelet confirms it. In the real cluster the node
	// controllers do this.
	PodMarked
	// StepBegins: a step of Cluster.Migration runs, or is retried; Node is its number. The
	// player calls Refuse if it is refused.
	StepBegins
	// StepEnds: a step is over; Node is its number, Pod how many pods it restarted.
	StepEnds
	// TakeStepSample: a Sample is taken during a migration.
	TakeStepSample
)

// Retry is the time between attempts of a pod that was refused an address: the kubelet's maximum
// back-off, counted from the start of each attempt. An attempt precedes an event of the same
// instant.
//
// Source: k8s.io/kubernetes/pkg/kubelet, MaxContainerBackOff.
const Retry = 5 * time.Minute

// Delays of a cluster's controllers.
const (
	// PodGC is the time between the deletions of a Node object and of its pods' objects.
	//
	// Source: k8s.io/kubernetes/pkg/controller/podgc, quarantineTime.
	PodGC = 40 * time.Second
	// EvictDefault is how long pods stay on a silent node: 40 s until it is unreachable, and
	// the 300 s that pods tolerate.
	//
	// Source: k8s.io/kubernetes, node-monitor-grace-period; defaulttolerationseconds.
	EvictDefault = 340 * time.Second
	// moment is the time that a workload's controller and the scheduler take to replace a
	// pod, and that a drain takes between two pods.
	moment = time.Second
)

// Event is an event of a trace. Nodes and pods are numbered from 0 in the order of their
// appearance, the initial ones first.
type Event struct {
	At   time.Duration
	Kind Kind
	Node int32 // -1 for none
	Pod  int32
}

// Trace is a workload trace: the events of a cluster, drawn from a seed. It depends on nodes, load,
// trouble and horizon, not on the address manager, so that all options have the same events. Of
// Collect it contains the passes, of a migration the pods that it restarts: a new pod has the
// remaining lifetime of the pod it replaces.
//
// Initial nodes and pods have no events for their start. Pods are never bound to a node without
// power, and only the taint manager deletes pods of such a node.
type Trace struct {
	c        *Workload
	seed     uint64
	nodes    []Node
	unplaced int    // pods that fit on no node, in the last walk
	refused  bool   // the current step of the migration was refused
	waiting  int    // of these: arrivals
	stem     string // prefix of pods' names

	// Drains counts the nodes drained so far in the last walk, without those drained for a
	// replacement.
	Drains int
}

// Trace returns the workload trace of a seed.
func (c *Workload) Trace(seed uint64) *Trace {
	t := &Trace{c: c, seed: seed, stem: "pod"}
	for i := 0; i < len(c.Pods); i++ {
		if r := c.Pods[i].Ref; r.Namespace == "default" && strings.HasPrefix(r.Name, t.stem+"-") {
			t.stem, i = t.stem+"x", -1
		}
	}
	return t
}

// Events iterates over the events in order of time; at one instant nodes first, then pods, then a
// Pass, then TakeSample. Each iteration starts from the beginning.
func (t *Trace) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		s := newScript(t, yield)
		s.run()
	}
}

// Node returns a machine by its number, among those that have joined so far in the last walk.
func (t *Trace) Node(i int32) Node {
	if int(i) < len(t.c.Nodes) && len(t.nodes) == 0 {
		return t.c.Nodes[i]
	}
	return t.nodes[i]
}

// Seed returns the seed of the trace.
func (t *Trace) Seed() uint64 { return t.seed }

// Unplaced counts the pods that fit on no node, at this point of the last walk. No datastore
// contains them, so the trace provides Sample.Unplaced.
func (t *Trace) Unplaced() int { return t.unplaced }

// Refuse marks the current step of the migration as refused, so that it is retried.
func (t *Trace) Refuse() { t.refused = true }

// Refused reports whether Refuse was called since the last step began.
func (t *Trace) Refused() bool { return t.refused }

// Pod returns the name of a pod.
func (t *Trace) Pod(i int32) model.PodRef {
	if int(i) < len(t.c.Pods) {
		return t.c.Pods[i].Ref
	}
	return model.PodRef{Namespace: "default", Name: t.stem + "-" + strconv.Itoa(int(i))}
}

// Number returns the number of a pod that is not initial, by its name.
func (t *Trace) Number(ref model.PodRef) (int32, bool) {
	digits, ok := strings.CutPrefix(ref.Name, t.stem)
	if !ok || ref.Namespace != "default" || len(digits) < 2 || digits[0] != '-' {
		return 0, false
	}
	i, err := strconv.ParseInt(digits[1:], 10, 32)
	return int32(i), err == nil && i >= int64(len(t.c.Pods))
}

// SampleCount returns the number of samples of a course.
func (c *Workload) SampleCount() int {
	switch {
	case c.Samples == 0:
		return SamplesDefault
	default:
		return max(c.Samples, 2)
	}
}

// sampleTime returns the time of the i-th sample.
func (c *Workload) sampleTime(i int) time.Duration {
	n := time.Duration(c.SampleCount() - 1)
	return c.Horizon/n*time.Duration(i) + c.Horizon%n*time.Duration(i)/n
}

// names holds the names that nodes have had, and the last address of each subnet.
type names struct {
	taken map[string]bool
	last  map[netip.Prefix]netip.Addr
}

func newNames(nodes []Node) *names {
	n := &names{map[string]bool{}, map[netip.Prefix]netip.Addr{}}
	for i := range nodes {
		n.taken[nodes[i].Name] = true
		if a := nodes[i].Addr; a.IsValid() && n.last[a.Masked()].Less(a.Addr()) {
			n.last[a.Masked()] = a.Addr()
		}
	}
	return n
}

// like returns a copy of a machine with an unused name and address.
func (n *names) like(old *Node, name string) Node {
	for n.taken[name] {
		name += "x"
	}
	n.taken[name] = true
	out := Node{Name: name, Labels: old.Labels}
	if old.Addr.IsValid() {
		subnet := old.Addr.Masked()
		n.last[subnet] = n.last[subnet].Next()
		out.Addr = netip.PrefixFrom(n.last[subnet], old.Addr.Bits())
	}
	return out
}
