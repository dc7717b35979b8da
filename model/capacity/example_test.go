package capacity_test

import (
	"fmt"
	"net/netip"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
)

// Wikimedia's staging cluster: 90 pods on two nodes, four blocks, and two more nodes after a month
// of drains. A node never releases the blocks that it needed while the other was away, unless a
// collector releases empty ones; so the new nodes borrow.
func Example() {
	staging := capacity.Cluster{
		Manager: &calico.Config{
			Datastore: reference.Kubernetes,
			Pools:     []reference.Pool{{Name: "default-ipv4-ippool", Prefix: netip.MustParsePrefix("10.64.75.0/24"), BlockBits: 26}},
			Settings:  reference.Config{AutoAllocate: true},
		},
		Workload: workload.Workload{
			Nodes:   []workload.Node{{Name: "kubestage1001"}, {Name: "kubestage1002"}},
			Load:    workload.Load{Pods: 90, Lifetime: 48 * time.Hour, Grow: 2, GrowAt: 30 * 24 * time.Hour},
			Trouble: workload.Trouble{DrainEvery: 10 * 24 * time.Hour, DrainFor: time.Hour},
			Horizon: 40 * 24 * time.Hour, Samples: 5,
		},
	}
	releasing := staging
	releasing.Collect = workload.Collect{Every: 5 * time.Minute}
	for _, c := range []*capacity.Cluster{&staging, &releasing} {
		course, err := capacity.Play(c, c.Trace(1))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, s := range course.Samples[1:] {
			fmt.Printf("day %2.0f: %d nodes, %d pods, blocks %d (empty %d), borrowed %d, starved %d\n",
				s.At.Hours()/24, s.Nodes, s.Pods, s.Blocks, s.EmptyBlocks, s.Borrowed, s.Starved)
		}
	}
	// Output:
	// day 10: 2 nodes, 90 pods, blocks 3 (empty 0), borrowed 0, starved 0
	// day 20: 2 nodes, 90 pods, blocks 4 (empty 1), borrowed 0, starved 0
	// day 30: 4 nodes, 90 pods, blocks 4 (empty 1), borrowed 0, starved 2
	// day 40: 4 nodes, 90 pods, blocks 4 (empty 1), borrowed 44, starved 2
	// day 10: 2 nodes, 90 pods, blocks 3 (empty 0), borrowed 0, starved 0
	// day 20: 2 nodes, 90 pods, blocks 3 (empty 0), borrowed 0, starved 0
	// day 30: 4 nodes, 90 pods, blocks 3 (empty 0), borrowed 0, starved 0
	// day 40: 4 nodes, 90 pods, blocks 4 (empty 0), borrowed 0, starved 0
}

// The trace does not depend on the address manager: a node loses its power, its pods are marked
// after 340 s, others start on the other node.
func ExampleCluster_Trace() {
	c := capacity.Cluster{
		Workload: workload.Workload{
			Nodes:   []workload.Node{{Name: "a"}, {Name: "b"}},
			Load:    workload.Load{PodsPerNode: workload.Distribution{Mean: 2}},
			Trouble: workload.Trouble{CrashEvery: 20 * time.Hour, CrashFor: 10 * time.Minute},
			Collect: workload.Collect{Every: 12 * time.Hour},
			Horizon: 24 * time.Hour, Samples: 2,
		},
	}
	trace := c.Trace(8)
	kinds := []string{"joins", "starts", "stops", "is removed", "loses power", "is back", "is deleted", "pass", "sample", "is marked"}
	for e := range trace.Events() {
		what := kinds[e.Kind]
		switch {
		case e.Pod >= 0:
			what = fmt.Sprintf("%s on %s %s", trace.Pod(e.Pod), trace.Node(e.Node).Name, what)
		case e.Node >= 0:
			what = trace.Node(e.Node).Name + " " + what
		}
		fmt.Println(e.At.Round(time.Second), what)
	}
	// Output:
	// 0s sample
	// 1s default/pod-0 on a starts
	// 2s default/pod-1 on b starts
	// 3s default/pod-2 on a starts
	// 4s default/pod-3 on b starts
	// 9h23m1s a loses power
	// 9h28m41s default/pod-0 on a is marked
	// 9h28m41s default/pod-2 on a is marked
	// 9h28m42s default/pod-4 on b starts
	// 9h28m42s default/pod-5 on b starts
	// 9h33m1s a is back
	// 12h0m0s pass
	// 24h0m0s pass
	// 24h0m0s sample
}
