// Package workload is what happens to a cluster over days, whatever manages its addresses:
// pods that come and go, growth, nodes that crash, are drained and are replaced, an
// operator's migration. A Trace of it is drawn from a seed, event by event.
package workload

import (
	"net/netip"
	"time"

	"ipamsim/model"
)

// SamplesDefault is how many samples of a cluster are taken over its horizon.
const SamplesDefault = 100

// Workload is what happens to a cluster, whatever manages its addresses: its machines, the
// pods that are meant to run on them, and what is done to either.
type Workload struct {
	Nodes   []Node // at the beginning
	Load    Load
	Trouble Trouble
	Collect Collect
	Horizon time.Duration
	// Apart is how much time there is at least between two events of the trace that the
	// address manager has work with, so that the real code is done with one before the
	// next: they come at whole multiples of it, passes halfway between two, and Looks
	// half of it away from either. 0: events come when they come.
	Apart   time.Duration
	Samples int // of its course, at least 2; 0 is SamplesDefault

	// Pods run already at the beginning, in a cluster that was imported; nil: none do.
	Pods []Resident

	// Migration is what is done to the cluster, from the beginning on, one step after
	// the other. RestartEvery is the time between
	// two pods that it restarts; 0 is restartDefault.
	Migration    []Step
	RestartEvery time.Duration
}

// Node is one machine.
type Node struct {
	Name   string
	Labels map[string]string
	// Addr is its own address with its subnet's length. Not valid: the next one of a
	// subnet that all such nodes share.
	Addr netip.Prefix
	// Addr6 is the same of IPv6.
	Addr6 netip.Prefix
}

// Resident is a pod that runs already when the plan begins.
type Resident struct {
	Ref       model.PodRef
	Node      string
	Container string
	Addrs     []netip.Addr
	Age       time.Duration // 0: not known
	Arrived   bool          // one of Arrivals: it is not made again
}

// Load is the pods of a cluster: how many there are meant to be, and how long one
// lives. With neither PodsPerNode nor Pods there are as many as at the beginning,
// and nodes share them evenly.
type Load struct {
	// PodsPerNode is drawn for each node that is there at the beginning or joins by
	// growth: the cluster is meant to run so many pods more because of it. A
	// scheduler puts each pod on the node that has the least of what it was drawn
	// for, so that the pods of a node that is away are on the others.
	PodsPerNode Distribution
	// Pods is how many run in all, whatever nodes there are, which share them evenly:
	// instead of PodsPerNode if it is not 0 (Wikimedia's staging: 90 pods, on two
	// nodes and later on four).
	Pods int
	// MaxPods is the kubelet's limit; 0 is 110. What fits nowhere is not scheduled.
	MaxPods int
	// Lifetime of a pod, exponential around this mean; then it is deleted and another
	// takes its place. 0: it stays.
	Lifetime time.Duration
	// Lifetimes is how long pods live as a distribution, instead of Lifetime. Those of the
	// beginning are of all ages, as if they had always come and gone.
	Lifetimes Lifetimes
	// GrowPods is how many more are meant to run at the horizon than at the beginning,
	// one after the other at equal distances; if it is negative, fewer.
	GrowPods int
	// Arrivals come besides.
	Arrivals Arrivals
	// Begins is how far its week is when the plan begins, since Monday 00:00.
	Begins time.Duration
	// Grow is how many nodes join over the horizon, at equal distances; GrowAt, if it
	// is not 0, is when all of them join at once.
	Grow   int
	GrowAt time.Duration
}

// Trouble is what happens to nodes. Each kind comes to every node by itself, with
// exponential times around its mean; none where the mean is 0.
type Trouble struct {
	// Drain: its pods are deleted one by one, with a DEL each, and start elsewhere;
	// after DrainFor pods may come again.
	DrainEvery, DrainFor time.Duration
	// Crash: power is lost, and no DEL runs. After Evict the pods are deleted and
	// start elsewhere. After CrashFor the node is back, and its kubelet runs the DEL of
	// the sandboxes that are no more.
	CrashEvery, CrashFor time.Duration
	// Replace: power is lost for good. After Evict its pods start elsewhere; a new
	// node joins after ReplaceFor in its place, under a new name. Unless KeepNode,
	// somebody deletes the old Node object then.
	ReplaceEvery, ReplaceFor time.Duration
	KeepNode                 bool
	// ReplaceDrained: it is drained first, and then switched off.
	ReplaceDrained bool
	// Evict is how long pods stay on a node that is silent; 0 is 340 s.
	Evict time.Duration
}

// Collect is the reconciler.
type Collect struct {
	Every time.Duration // between two passes; 0: it does not run
	// Grace is how long it waits before it releases what has leaked, Never for ever; 0 is
	// the manager's own, see Patient.
	Grace time.Duration
}
