package cluster

import (
	"context"
	"hash/fnv"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/cluster/cri"
	"ipamsim/sim/cluster/kubeapi"
)

// collectGarbage starts the kubelet's container garbage collector if it does not run. The collector
// runs while a sandbox exists that could be garbage. A pass stops each sandbox to remove, and the
// runtime stops it again before it removes it. A failure is retried in the next pass. With turns
// there is no collector.
//
// Source: pkg/kubelet/kubelet.go, StartGarbageCollection and ContainerGCPeriod;
// pkg/kubelet/kuberuntime/kuberuntime_gc.go, removeSandbox (v1.37.2); containerd 2,
// internal/cri/server, RemovePodSandbox.
func (k *kubelet) collectGarbage() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.c.turns.Step > 0 || k.c.World.Alive(k.collector) || len(k.c.record(k.node).Dead()) == 0 {
		return
	}
	k.collector = sim.ActorID(k.c.Name("kubelet/" + k.node + "/gc"))
	k.c.World.Spawn(sim.Process{ID: k.collector, Group: k.node, Run: func(ctx context.Context, g *sim.Gate) error {
		client := kubeapi.New(k.c.api.Transport(g))
		for len(k.c.record(k.node).Dead()) > 0 && kubeapi.Sleep(ctx, k.untilPass()) {
			k.removeGarbage(ctx, client)
		}
		return ctx.Err()
	}})
}

// untilPass returns the time until the next pass; there is one each period. The first pass of
// a kubelet that exists when the run begins comes at any time of a period, the same for all
// runs, because the kubelet started long before.
func (k *kubelet) untilPass() time.Duration {
	every := k.c.Config.Timers.ContainerGC
	since := k.c.World.Now() - k.started
	if k.started == 0 {
		h := fnv.New32a()
		h.Write([]byte(k.node))
		since += time.Duration(h.Sum32()) * time.Microsecond
	}
	return every - since%every
}

// removeGarbage is one pass of the collector.
func (k *kubelet) removeGarbage(ctx context.Context, client kubeapi.Client) {
	for _, st := range k.garbage() {
		w := &worker{id: k.collector, c: k.c, k: k, client: client, key: kubeapi.Ref(st.Pod), pod: st.Pod}
		if w.stopSandbox(ctx, st) && w.stopSandbox(ctx, st) {
			k.c.forget(k.node, st)
		}
	}
}

// garbageLeft reports whether a kubelet that can has yet to remove a sandbox.
func (c *Cluster) garbageLeft() bool {
	if c.turns.Step > 0 {
		return false
	}
	return slices.ContainsFunc(c.Nodes(), func(name string) bool {
		n := c.node(name)
		return c.Checker.Machine(name).Healthy() && n.kubelet != nil && len(n.kubelet.garbage()) > 0
	})
}

// garbage are the sandboxes to remove, oldest first: all sandboxes of a pod that is deleted and
// terminated, and of another pod all dead ones except the newest, whose containers the kubelet
// keeps.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go, evictSandboxes; pkg/kubelet/kubelet.go,
// MaxPerPodContainerCount (v1.37.2).
func (k *kubelet) garbage() []*cri.Sandbox {
	dead := k.c.record(k.node).Dead()
	newest := map[types.UID]*cri.Sandbox{}
	for _, st := range dead {
		newest[st.Pod.UID] = st
	}
	return slices.DeleteFunc(dead, func(st *cri.Sandbox) bool { return k.keeps(st, newest[st.Pod.UID] == st) })
}

// keeps reports whether a dead sandbox must not be removed now: the runtime is creating or undoing
// it, or it is the newest of a pod that is not finished as far as the kubelet knows.
//
// Source: pkg/kubelet/pod_workers.go, ShouldPodContentBeRemoved (v1.37.2).
func (k *kubelet) keeps(st *cri.Sandbox, newest bool) bool {
	if w := k.workerOf(st.Pod.UID); w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		finished := w.terminated && (w.gone || w.pod.DeletionTimestamp != nil)
		return w.making == st || newest && !finished
	}
	stored := k.c.Cache.Pod(kubeapi.Ref(st.Pod))
	finished := stored == nil || stored.UID != st.Pod.UID || stored.DeletionTimestamp != nil && kubeapi.Finished(stored)
	return newest && !finished
}

// workerOf is the worker of a pod, also of one that is no longer stored.
func (k *kubelet) workerOf(uid types.UID) *worker {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.alive {
		if w.uid == uid {
			return w
		}
	}
	return k.workers[uid]
}
