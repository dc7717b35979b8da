package capacity_test

import (
	"net/netip"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
)

// crowded is a cluster as it is after two hours with twelve pods and eight addresses.
func crowded(t *testing.T) *capacity.Cluster {
	t.Helper()
	c := &capacity.Cluster{
		Manager: &calico.Config{
			Datastore: reference.Kubernetes, Settings: reference.Config{AutoAllocate: true},
			Pools: []reference.Pool{{Name: "small", Prefix: netip.MustParsePrefix("10.0.0.0/29"), BlockBits: 30}},
		},
		Workload: workload.Workload{
			Nodes: []workload.Node{{Name: "a"}, {Name: "b"}}, Load: workload.Load{Pods: 12}, Horizon: 2 * time.Hour,
		},
	}
	trace := c.Trace(1)
	p, err := capacity.NewPlayer(c, trace)
	if err != nil {
		t.Fatal(err)
	}
	for e := range trace.Events() {
		if err := p.Do(e); err != nil {
			t.Fatal(err)
		}
	}
	v := p.View()
	now := *c
	now.Record, now.Pods, now.Horizon = &v.Record, residents(v.Truth), 24*time.Hour
	now.Load.Lifetime = 6 * time.Hour
	return &now
}

// A cluster that runs counts from when it has settled, and a cluster that is changed from when
// it has settled after the change. Refusals before that are reported separately.
func TestJudgedFromATimeOn(t *testing.T) {
	now := crowded(t)
	moved := *now
	moved.Migration = []workload.Step{
		calico.OfPool(calico.CreatePool, reference.Pool{Name: "large", Prefix: netip.MustParsePrefix("10.1.0.0/24"), BlockBits: 28}, calico.Routing{}),
		{Kind: calico.DisablePool, Pool: "small"},
		{Kind: workload.RestartPods, Pools: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/29")}},
		{Kind: calico.DeletePool, Pool: "small"},
	}
	late := *now
	late.JudgeFrom = 30 * time.Hour // behind the end
	play := func(c *capacity.Cluster) *capacity.Course {
		got, err := capacity.Play(c, c.Trace(1))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if c := play(now); c.Since != time.Hour || c.Exhausted < time.Hour || c.RefusedBefore == 0 || c.Refused == 0 || c.Migration != nil {
		t.Errorf("as it is: since %s, exhausted %s, %d refused before", c.Since, c.Exhausted, c.RefusedBefore)
	}
	c := play(&moved)
	if way := c.Migration; way.End == capacity.Never || c.Since != way.End+time.Hour || len(way.Steps) != 4 || way.Restarted() < 8 || way.Worst.Waiting == 0 {
		t.Errorf("moved: since %s, %+v", c.Since, way)
	}
	if c.Exhausted != capacity.Never || c.Refused != 0 || c.RefusedBefore == 0 {
		t.Errorf("moved: exhausted %s, %d refused, %d before", c.Exhausted, c.Refused, c.RefusedBefore)
	}
	for _, s := range c.Judged() {
		if s.At < c.Since || s.Waiting > 0 || s.Pods != 12 {
			t.Errorf("moved: %+v", s)
		}
	}
	if c := play(&late); len(c.Judged()) > 0 || c.Exhausted != capacity.Never || c.RefusedBefore == 0 {
		t.Errorf("too late: %d samples, exhausted %s", len(c.Judged()), c.Exhausted)
	}
}

// An address that no claim is of, of another CNI or of two pods, is not what makes less
// than nothing leak.
func TestUnclaimedIsNotLeaked(t *testing.T) {
	now := crowded(t)
	now.Pods = append(now.Pods, workload.Resident{Ref: model.PodRef{Namespace: "win", Name: "iis"}, Node: "a", Container: "w", Addrs: []netip.Addr{netip.MustParseAddr("10.250.3.4")}})
	twin := now.Pods[0]
	twin.Ref.Name, twin.Container = "twin", "t"
	now.Pods = append(now.Pods, twin)
	now.Load.Pods += 2
	c, err := capacity.Play(now, now.Trace(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Samples {
		if s.Leaked != 0 {
			t.Fatalf("%d leaked at %s", s.Leaked, s.At)
		}
	}
}

// A migration only affects the pods that it restarts: the number of running pods at each sample is
// the same, and nodes are added and removed as before.
func TestMigrationKeepsTheTrace(t *testing.T) {
	now := crowded(t)
	now.Load.Grow, now.Trouble = 2, workload.Trouble{DrainEvery: 5 * time.Hour, DrainFor: 20 * time.Minute, CrashEvery: 9 * time.Hour, CrashFor: 20 * time.Minute, ReplaceEvery: 20 * time.Hour, ReplaceFor: time.Hour}
	moved := *now
	moved.Migration = []workload.Step{{Kind: workload.RestartPods, Pools: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/29")}}}
	for seed := range uint64(20) {
		type happened struct {
			at   time.Duration
			kind workload.Kind
			node int32
		}
		nodes := func(c *capacity.Cluster) (out []happened, running map[int32]bool) {
			running = map[int32]bool{}
			for i := range c.Pods {
				running[int32(i)] = true
			}
			for e := range c.Trace(seed).Events() {
				switch e.Kind {
				case workload.NodeJoins, workload.NodeDown, workload.NodeUp, workload.NodeDeleted:
					out = append(out, happened{e.At, e.Kind, e.Node})
				case workload.PodStarts:
					if running[e.Pod] {
						t.Fatalf("seed %d: pod %d starts twice", seed, e.Pod)
					}
					running[e.Pod] = true
				case workload.PodStops, workload.PodMarked, workload.PodRemoved:
					if !running[e.Pod] && e.Kind != workload.PodRemoved {
						t.Fatalf("seed %d: pod %d stops twice", seed, e.Pod)
					}
					delete(running, e.Pod)
				}
			}
			return out, running
		}
		a, pods := nodes(now)
		b, more := nodes(&moved)
		if len(a) != len(b) || len(pods) != len(more) {
			t.Errorf("seed %d: %d events of nodes and %d, %d pods at the end and %d", seed, len(a), len(b), len(pods), len(more))
			continue
		}
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("seed %d: %+v, and moved %+v", seed, a[i], b[i])
			}
		}
	}
}
