package capacity_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
)

// Every trace is a history that a cluster can have. A pod that starts is bound to a machine
// that runs and has room; a pod that stops was running; a pod that is marked is on a machine
// that has been silent for as long as pods tolerate it, and it is deleted only when the
// machine is back or its Node object has been gone for long enough.
func TestTraceIsAHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		h := newHistory(t, c)
		for e := range c.Trace(rapid.Uint64().Draw(t, "seed")).Events() {
			h.happens(e)
		}
		if h.samples != c.SampleCount() || h.at != c.Horizon {
			t.Fatalf("%d samples, the last at %s, want %d, at %s", h.samples, h.at, c.SampleCount(), c.Horizon)
		}
	})
}

// history is a cluster as a workload trace describes it.
type history struct {
	t       *rapid.T
	c       *capacity.Cluster
	at      time.Duration
	op      time.Duration // when the address manager last had work
	samples int
	nodes   []node
	on      []int32 // of each pod that came, -1 once its object is gone
	marked  map[int32]bool
}

type node struct {
	up, deleted bool
	since       time.Duration
	pods        int // without those that are marked
}

func newHistory(t *rapid.T, c *capacity.Cluster) *history {
	h := &history{t: t, c: c, op: -1, marked: map[int32]bool{}}
	for range c.Nodes {
		h.nodes = append(h.nodes, node{up: true})
	}
	return h
}

func (h *history) must(ok bool, e workload.Event, rule string) {
	h.t.Helper()
	if !ok {
		h.t.Fatalf("%s: %+v", rule, e)
	}
}

func (h *history) happens(e workload.Event) {
	h.must(e.At >= h.at && e.At <= h.c.Horizon, e, "time goes on, and not beyond the horizon")
	h.at = e.At
	switch e.Kind {
	case workload.TakeSample:
		h.samples++
		return
	case workload.Pass:
		h.must(h.c.Collect.Every > 0, e, "there is no reconciler")
		return
	case workload.PodMarked, workload.PodRemoved:
	default:
		h.apart(e)
	}
	switch e.Kind {
	case workload.NodeJoins:
		h.must(int(e.Node) == len(h.nodes), e, "machines are numbered as they come")
		h.nodes = append(h.nodes, node{up: true, since: e.At})
	case workload.NodeDown, workload.NodeUp:
		n := &h.nodes[e.Node]
		h.must(!n.deleted && n.up == (e.Kind == workload.NodeDown), e, "power goes where it is, and comes where it is not")
		n.up, n.since = !n.up, e.At
		if n.up {
			h.confirmed(e.Node)
		}
	case workload.NodeDeleted:
		h.must(!h.nodes[e.Node].up && !h.nodes[e.Node].deleted && !h.c.Trouble.KeepNode, e, "only machines that are no more are deleted")
		h.nodes[e.Node].deleted, h.nodes[e.Node].since = true, e.At
	default:
		h.pod(e)
	}
}

func (h *history) pod(e workload.Event) {
	n := &h.nodes[e.Node]
	if e.Kind == workload.PodStarts {
		room := h.c.Load.MaxPods
		if room == 0 {
			room = workload.MaxPodsDefault
		}
		h.must(int(e.Pod) == len(h.on) && n.up && !n.deleted && n.pods < room, e, "a pod starts where a machine runs and has room")
		h.on = append(h.on, e.Node)
		n.pods++
		return
	}
	h.must(h.on[e.Pod] == e.Node, e, "it is on this node")
	switch e.Kind {
	case workload.PodStops:
		h.must(n.up && !h.marked[e.Pod], e, "it is deleted where somebody runs its DEL")
		n.pods--
	case workload.PodMarked:
		h.must(!n.up && !n.deleted && !h.marked[e.Pod] && e.At == n.since+h.c.Evict(), e, "it is marked once its node has been silent for long enough")
		h.marked[e.Pod] = true
		n.pods--
		return
	case workload.PodRemoved:
		h.must(n.deleted && e.At == n.since+workload.PodGC, e, "it is removed a while after its Node object")
		if !h.marked[e.Pod] {
			n.pods--
		}
	}
	h.on[e.Pod] = -1
}

// confirmed ends the marked pods of a node that is back.
func (h *history) confirmed(node int32) {
	for pod, on := range h.on {
		if on == node && h.marked[int32(pod)] {
			h.on[pod] = -1
		}
	}
}

// apart: what the manager has work with comes at multiples of Apart, one at a time;
// only a machine that takes another's place does so as the other one goes.
func (h *history) apart(e workload.Event) {
	apart := h.c.Apart
	if apart == 0 || e.Kind == workload.NodeJoins && e.At == h.op {
		return
	}
	h.must(e.At%apart == 0 && e.At > h.op, e, fmt.Sprintf("it is a multiple of %s, and not that of %s", apart, h.op))
	for i := range h.c.SampleCount() {
		sample := h.c.Horizon / time.Duration(h.c.SampleCount()-1) * time.Duration(i)
		h.must((e.At-sample).Abs() >= apart/2-time.Duration(i), e, "no sample is taken at that time")
	}
	h.op = e.At
}

// The events are the same for every address manager, except the passes.
func TestTraceIsTheSameForEveryOption(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, seed := drawCluster(t), rapid.Uint64().Draw(t, "seed")
		before := events(c, seed)
		if !slices.Equal(before, events(c, seed)) {
			t.Fatal("another trace the second time")
		}
		o := *c
		o.Manager = &calico.Config{Datastore: reference.Etcd}
		o.Collect = workload.Collect{Every: 3 * time.Minute, Grace: time.Minute}
		pass := func(e workload.Event) bool { return e.Kind == workload.Pass }
		if a, b := slices.DeleteFunc(before, pass), slices.DeleteFunc(events(&o, seed), pass); !slices.Equal(a, b) {
			t.Fatalf("%d events, and %d with other settings", len(a), len(b))
		}
	})
}

func events(c *capacity.Cluster, seed uint64) []workload.Event {
	return slices.Collect(c.Trace(seed).Events())
}

// A cluster that nothing happens to runs what Load says, spread by what each node
// was drawn for.
func TestPopulation(t *testing.T) {
	for _, x := range []struct {
		load  workload.Load
		nodes int
		want  int
	}{
		{workload.Load{PodsPerNode: workload.Distribution{Mean: 30}}, 4, 120},
		{workload.Load{Pods: 90}, 4, 90},
		{workload.Load{Pods: 90, Grow: 2, GrowAt: 12 * time.Hour}, 2, 90},
		{workload.Load{PodsPerNode: workload.Distribution{Mean: 30}, Grow: 3}, 1, 120},
		{workload.Load{PodsPerNode: workload.Distribution{Mean: 200}}, 2, 220}, // the kubelets take no more pods
		{workload.Load{PodsPerNode: workload.Distribution{Mean: 30}, MaxPods: 7}, 3, 21},
		{workload.Load{PodsPerNode: workload.Distribution{Shape: workload.Uniform, Mean: 20, Spread: 20, Max: 5}}, 0, 0},
	} {
		c := &capacity.Cluster{Workload: workload.Workload{Horizon: 24 * time.Hour, Load: x.load}}
		for i := range x.nodes {
			c.Nodes = append(c.Nodes, workload.Node{Name: fmt.Sprint("n", i)})
		}
		c.Load.Lifetime = 2 * time.Hour // replaced, and no fewer
		running, on := 0, map[int32]int{}
		for _, e := range events(c, 1) {
			switch e.Kind {
			case workload.PodStarts:
				running++
				on[e.Node]++
			case workload.PodStops:
				running--
				on[e.Node]--
			}
		}
		// One that has just been deleted is not there again yet.
		if running > x.want || running < x.want-2 {
			t.Errorf("%+v: %d pods, want %d", x.load, running, x.want)
		}
		for n, pods := range on {
			if even := x.want / len(on); pods > even+even/3+3 {
				t.Errorf("%+v: node %d has %d of %d pods", x.load, n, pods, x.want)
			}
		}
	}
}

// Nodes with a greater drawn number have more pods: without faults each has its drawn number.
func TestNodesShareAsTheyWereDrawn(t *testing.T) {
	c := &capacity.Cluster{Workload: workload.Workload{Horizon: 24 * time.Hour, Load: workload.Load{PodsPerNode: workload.Distribution{Shape: workload.Uniform, Mean: 50, Spread: 45}}}}
	for i := range 40 {
		c.Nodes = append(c.Nodes, workload.Node{Name: fmt.Sprint("n", i)})
	}
	on := make([]int, len(c.Nodes))
	for _, e := range events(c, 1) {
		if e.Kind == workload.PodStarts {
			on[e.Node]++
		}
	}
	slices.Sort(on)
	// Of forty draws between 5 and 95 the least is below 20, and the most above 80, but
	// for one set of seeds in a hundred.
	if on[0] > 20 || on[len(on)-1] < 80 {
		t.Errorf("pods of nodes: %v", on)
	}
}
