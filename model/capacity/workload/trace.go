package workload

import (
	"iter"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"ipamsim/model"
)

// Kind says what an event does.
type Kind uint8

// What happens on a tape.
const (
	// NodeJoins: a node is registered and switched on, for the first time.
	NodeJoins Kind = iota
	// PodStarts: a pod has been bound to a node; its ADD runs. One without an address
	// tries again every Retry until it gets one or is deleted.
	PodStarts
	// PodStops: a pod of a node that is up was deleted: its DEL runs, then the object
	// goes.
	PodStops
	// PodRemoved: the object of a pod is removed by force, because its Node object was
	// deleted PodGC ago, and nobody runs a DEL. On the real cluster the controllers of
	// nodes do it by themselves.
	PodRemoved
	// NodeDown: power is lost, and all sandboxes of the node with it.
	NodeDown
	// NodeUp: power is back. The kubelet runs the DEL of every sandbox that it had,
	// then an ADD for each pod that is still bound to it; the objects of those that
	// were marked meanwhile go after their DEL.
	NodeUp
	// NodeDeleted: the Node object of a machine that is no more is deleted.
	NodeDeleted
	// Pass of the reconciler.
	Pass
	// Look: a Sample is taken.
	Look
	// PodMarked: a pod of a node that has been silent for Trouble.Evict is marked for
	// deletion by the taint manager. Its object stays until the node is back or its
	// Node object was deleted, since nobody there can confirm it. On the real cluster
	// the controllers of nodes do it by themselves.
	PodMarked
	// StepBegins: a step of Cluster.Migration is done, or tried again; Node is its
	// number. Whoever plays the tape calls Refuse if it is refused.
	StepBegins
	// StepEnds: a step is over; Node is its number, Pod how many pods it restarted.
	StepEnds
	// StepLook: a Sample is taken on the way.
	StepLook
)

// Retry is how long a pod that was refused an address waits before it tries again:
// the kubelet's longest back-off. It counts from the beginning of each try. What
// comes at one instant with an event comes before it.
//
// Source: k8s.io/kubernetes/pkg/kubelet, MaxContainerBackOff.
const Retry = 5 * time.Minute

// Delays of a cluster's controllers.
const (
	// PodGC is how long after its Node object a pod's goes.
	//
	// Source: k8s.io/kubernetes/pkg/controller/podgc, quarantineTime.
	PodGC = 40 * time.Second
	// EvictDefault is how long pods stay on a node that is silent: 40 s until it is
	// unreachable, and the 300 s that pods tolerate that.
	//
	// Source: k8s.io/kubernetes, node-monitor-grace-period; defaulttolerationseconds.
	EvictDefault = 340 * time.Second
	// moment is what a workload's controller and the scheduler take to start another
	// pod in place of one that goes, and a drain between one pod and the next.
	moment = time.Second
)

// Event is one thing that happens. Nodes and pods are numbered from 0 in the order
// in which they come; those that are there at the beginning come first.
type Event struct {
	At   time.Duration
	Kind Kind
	Node int32 // -1 where there is none
	Pod  int32
}

// Trace is what happens to a cluster, drawn from a seed. It depends on its nodes,
// load, trouble and horizon, and not on what manages its addresses, so that every
// choice of that meets the same history; of Collect only the passes themselves, and
// of a migration only the pods that it restarts: theirs go on with the lives of those
// whose places they take.
//
// Nodes and pods that are there at the beginning have no events of their own then.
// Pods are never bound to a node without power, and nobody but the taint manager
// deletes those of one.
type Trace struct {
	c        *Workload
	seed     uint64
	nodes    []Node
	unplaced int    // pods that no node has had room for, in the last walk
	refused  bool   // the step of the migration that has just begun
	waiting  int    // of these: arrivals
	stem     string // of pods' names

	// Drains is how many nodes have been drained so far in the last walk, without those
	// that were drained to be replaced.
	Drains int
}

// Trace is what happens to the cluster under a seed.
func (c *Workload) Trace(seed uint64) *Trace {
	t := &Trace{c: c, seed: seed, stem: "pod"}
	for i := 0; i < len(c.Pods); i++ {
		if r := c.Pods[i].Ref; r.Namespace == "default" && strings.HasPrefix(r.Name, t.stem+"-") {
			t.stem, i = t.stem+"x", -1
		}
	}
	return t
}

// Events in order of time; of one instant those of nodes come first, then those of
// pods, then a Pass, then the Look. Each walk over them begins anew.
func (t *Trace) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		s := newScript(t, yield)
		s.run()
	}
}

// Node is the machine of a number, of those that have joined so far in the last
// walk.
func (t *Trace) Node(i int32) Node {
	if int(i) < len(t.c.Nodes) && len(t.nodes) == 0 {
		return t.c.Nodes[i]
	}
	return t.nodes[i]
}

// Seed is what it was drawn from.
func (t *Trace) Seed() uint64 { return t.seed }

// Unplaced is how many pods no node has room for, at this point of the last walk. No
// datastore knows of them: it is for the tape to fill in Sample.Unplaced.
func (t *Trace) Unplaced() int { return t.unplaced }

// Refuse says that the step of the migration that has just begun was refused, so that
// it is tried again. Without it steps succeed.
func (t *Trace) Refuse() { t.refused = true }

// Refused reports whether Refuse was called since the last step began.
func (t *Trace) Refused() bool { return t.refused }

// Pod is the name of a pod.
func (t *Trace) Pod(i int32) model.PodRef {
	if int(i) < len(t.c.Pods) {
		return t.c.Pods[i].Ref
	}
	return model.PodRef{Namespace: "default", Name: t.stem + "-" + strconv.Itoa(int(i))}
}

// number is that of a pod that came later, by its name.
func (t *Trace) Number(ref model.PodRef) (int32, bool) {
	digits, ok := strings.CutPrefix(ref.Name, t.stem)
	if !ok || ref.Namespace != "default" || len(digits) < 2 || digits[0] != '-' {
		return 0, false
	}
	i, err := strconv.ParseInt(digits[1:], 10, 32)
	return int32(i), err == nil && i >= int64(len(t.c.Pods))
}

// Looks is how many samples a course of the cluster has.
func (c *Workload) Looks() int {
	switch {
	case c.Samples == 0:
		return SamplesDefault
	default:
		return max(c.Samples, 2)
	}
}

// look is the instant of the i-th sample.
func (c *Workload) look(i int) time.Duration {
	n := time.Duration(c.Looks() - 1)
	return c.Horizon/n*time.Duration(i) + c.Horizon%n*time.Duration(i)/n
}

// names are those that nodes have had, and the last address of each subnet.
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

// like is a machine as another one is, under a name and with an address that none
// has had.
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
