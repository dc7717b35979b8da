// Package workload generates the events of a cluster over days, independent of the address manager:
// pods that start and stop, growth, nodes that crash, are drained and are replaced, and an
// operator's migration. A Trace is drawn from a seed, event by event.
package workload

import (
	"net/netip"
	"time"

	"ipamsim/model"
)

// SamplesDefault is the default number of samples over the horizon.
const SamplesDefault = 100

// Workload describes the machines, pods and events of a cluster, independent of the address
// manager.
type Workload struct {
	Nodes   []Node // at the beginning
	Load    Load
	Trouble Trouble
	Collect Collect
	Horizon time.Duration
	// Apart is the minimum time between two events that cause work for the address manager,
	// so that the real code finishes one before the next: events are at multiples of Apart,
	// passes halfway between, samples a quarter of it away from both. 0: no minimum.
	Apart   time.Duration
	Samples int // of its course, at least 2; 0 is SamplesDefault

	// Pods lists the initial pods of an imported cluster; nil: none.
	Pods []Resident

	// Migration lists the steps of an operator's migration, run in order from the start.
	// RestartEvery is the time between two pods that it restarts; 0 is restartDefault.
	Migration    []Step
	RestartEvery time.Duration
}

// Node is one machine.
type Node struct {
	Name   string
	Labels map[string]string
	// Addr is its address with the prefix length of its subnet. Invalid: the next address of
	// a subnet that all such nodes share.
	Addr netip.Prefix
	// Addr6 is its IPv6 address.
	Addr6 netip.Prefix
}

// Resident is a pod that runs when the plan starts.
type Resident struct {
	Ref       model.PodRef
	Node      string
	Container string
	Addrs     []netip.Addr
	Age       time.Duration // 0: not known
	Arrived   bool          // one of Arrivals: not re-created
}

// Load defines the number of pods of a cluster and their lifetimes. With neither PodsPerNode nor
// Pods the initial number stays, spread evenly over the nodes.
type Load struct {
	// PodsPerNode is drawn for each initial node and each node that joins by growth, and
	// adds as many pods to the cluster. The scheduler puts a pod on the node with the lowest
	// ratio of pods to its drawn number, so pods of an absent node run on the others.
	PodsPerNode Distribution
	// Pods, if not 0, is the total number of pods, spread evenly over the nodes, instead of
	// PodsPerNode (Wikimedia's staging: 90 pods, on two
	// nodes and later on four).
	Pods int
	// MaxPods is the kubelet's limit; 0 is 110. A pod that fits nowhere is not scheduled.
	MaxPods int
	// Lifetime is the mean of a pod's exponential lifetime; then the pod is deleted and
	// replaced. 0: it stays.
	Lifetime time.Duration
	// Lifetimes is a distribution of pods' lifetimes, instead of Lifetime. Initial pods have
	// ages of the stationary distribution.
	Lifetimes Lifetimes
	// GrowPods is the change of the number of pods over the horizon, one pod at a time at
	// equal distances; negative: fewer pods.
	GrowPods int
	// Arrivals are additional pods.
	Arrivals Arrivals
	// Begins is the time of week at which the plan starts, since Monday 00:00.
	Begins time.Duration
	// Grow is the number of nodes that join over the horizon, at equal distances; GrowAt, if
	// not 0, is the time at which all of them join.
	Grow   int
	GrowAt time.Duration
}

// Trouble defines the failures of nodes. Each kind affects every node independently, with
// exponential intervals of the given mean; 0: never.
type Trouble struct {
	// Drain: its pods are deleted one by one, with a DEL each, and start elsewhere;
	// after DrainFor it accepts pods again.
	DrainEvery, DrainFor time.Duration
	// Crash: power is lost, and no DEL runs. After Evict the pods are deleted and
	// start elsewhere. After CrashFor the node is back, and its kubelet runs the DEL of
	// the lost sandboxes.
	CrashEvery, CrashFor time.Duration
	// Replace: power is lost for good. After Evict its pods start elsewhere; a new
	// node joins after ReplaceFor in its place, under a new name. Unless KeepNode,
	// the operator then deletes the old Node object.
	ReplaceEvery, ReplaceFor time.Duration
	KeepNode                 bool
	// ReplaceDrained: it is drained first, and then switched off.
	ReplaceDrained bool
	// Evict is how long pods stay on a silent node; 0 is 340 s.
	Evict time.Duration
}

// Collect configures the reconciler.
type Collect struct {
	Every time.Duration // between two passes; 0: it does not run
	// Grace is the time before it releases a leaked address; Never: it does not; 0: the
	// manager's default, see Patient.
	Grace time.Duration
}
