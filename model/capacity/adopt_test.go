package capacity_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
)

// A plan that begins with an existing cluster, its record and its running pods, begins with the
// measurements of that cluster, and continues with the same pods. After each of them has been
// replaced, the leaked addresses are those that they did not release.
func TestPlanBeginsWithAClusterThatIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		c.Trouble, c.Load.Grow = workload.Trouble{}, 0 // all nodes are up at the end, and have their own names
		before := c.Trace(1)
		p, err := capacity.NewPlayer(c, before)
		if err != nil {
			t.Fatal(err)
		}
		for e := range before.Events() {
			if err := p.Do(e); err != nil {
				t.Fatal(err)
			}
		}
		was := last(p)
		v := p.View()
		now := *c
		now.Record, now.Pods = &v.Record, residents(v.Truth)
		otherNames(now.Record)
		now.Load = workload.Load{Lifetime: time.Hour}
		now.Collect = workload.Collect{}
		trace := now.Trace(2)
		q, err := capacity.NewPlayer(&now, trace)
		if err != nil {
			t.Fatal(err)
		}
		// Upstream's DEL stops where a reservation is missing, and its reconciler deletes
		// those of networks with a name.
		overlaps := len(c.Networks) > 0 && c.Networks[0].Overlap
		first := true
		for e := range trace.Events() {
			if err := q.Do(e); err != nil {
				t.Fatal(err)
			}
			if e.Kind != workload.TakeSample {
				continue
			}
			is := last(q)
			if is.Leaked != was.Leaked && !overlaps {
				t.Fatalf("%d leaked at the beginning, and %d at %s", was.Leaked, is.Leaked, e.At)
			}
			if !first {
				continue
			}
			first = false
			// Only pods that have an address are there from the start, and a recording has no
			// pods without a node.
			is.At, is.Pods, is.Waiting = was.At, is.Pods+was.Waiting, was.Waiting
			is.Unplaced = was.Unplaced
			if d := cmp.Diff(was, is); d != "" {
				t.Fatalf("it was (-) and is (+):\n%s", d)
			}
			if d := cmp.Diff(now.Record.Claims, q.View().Record.Claims, cmpopts.EquateComparable(netip.Addr{})); d != "" {
				t.Fatalf("claims were (-) and are (+):\n%s", d)
			}
		}
	})
}

// otherNames: the CNI configuration and the interfaces of a cluster are called as
// its operators like.
func otherNames(r *model.Snapshot) {
	name := func(handle string) string { return strings.Replace(handle, "k8s-pod-network.", "cni0.", 1) }
	for i := range r.Claims {
		c := &r.Claims[i]
		c.Handle, c.Interface = name(c.Handle), strings.Replace(c.Interface, "net", "macvlan", 1)
	}
	for i := range r.Handles {
		r.Handles[i].ID = name(r.Handles[i].ID)
	}
}

func residents(t model.Truth) (out []workload.Resident) {
	for _, b := range t.Sandboxes {
		if b.Pod.Namespace == "" {
			continue
		}
		r := workload.Resident{Ref: b.Pod, Node: b.Node, Container: b.ID}
		for _, a := range b.Attachments {
			r.Addrs = append(r.Addrs, a.Addrs...)
		}
		out = append(out, r)
	}
	return out
}
