package cluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// A cache has the stored objects, and knows nodes that were deleted.
func TestKubeAPICache(t *testing.T) {
	now := time.Duration(0)
	c := kubeapi.NewCache(func() time.Duration { return now })
	for _, name := range []string{"b", "a", "c"} {
		p := &corev1.Pod{}
		p.Namespace, p.Name, p.Spec.NodeName = "default", name, "n"
		c.Changed(kube.Change{Resource: "pods", Namespace: "default", Name: name, Object: p})
	}
	c.Changed(kube.Change{Resource: "pods", Namespace: "default", Name: "c", Old: &corev1.Pod{}})
	if on := c.PodsOn("n"); len(on) != 2 || on[0].Name != "a" || on[1].Name != "b" {
		t.Errorf("pods on n: %v", on)
	}
	c.Changed(kube.Change{Resource: "nodes", Name: "never", Old: &corev1.Node{}})
	c.Changed(kube.Change{Resource: "nodes", Name: "n", Object: &corev1.Node{}})
	now = time.Minute
	if n, _ := c.Node("n"); n == nil {
		t.Error("n is not stored")
	}
	c.Changed(kube.Change{Resource: "nodes", Name: "n", Old: &corev1.Node{}})
	if n, gone := c.Node("n"); n != nil || gone != time.Minute || len(c.Nodes()) != 1 {
		t.Errorf("node %v, gone since %v, of %v", n, gone, c.Nodes())
	}
}

// An informer receives the changes that it wants, and none after it is unsubscribed. A loop
// over the informers in the meantime meets each of them once.
func TestKubeAPIFeed(t *testing.T) {
	var f kubeapi.Feed
	offered := 0
	wants := func(ch kube.Change) bool { offered++; return ch.Resource == "pods" }
	first, second := f.Subscribe(wants), f.Subscribe(wants)
	for _, in := range f.Informers() {
		f.Unsubscribe(first)
		in.Offer(kube.Change{Resource: "nodes"})
	}
	if all := f.Informers(); offered != 2 || len(all) != 1 || all[0] != second {
		t.Errorf("offered %d times, %d informers are left", offered, len(all))
	}
}
