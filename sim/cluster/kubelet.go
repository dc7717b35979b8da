package cluster

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// kubelet runs the pods that are bound to its node: one process that hears of
// them, and one worker each, as the real one has.
type kubelet struct {
	c    *Cluster
	node string
	in   *inbox

	mu      sync.Mutex
	workers map[types.UID]*worker
}

func (c *Cluster) startKubelet(name string) {
	k := &kubelet{c: c, node: name, workers: map[types.UID]*worker{}}
	c.mu.Lock()
	c.nodes[name].kubelet = k
	left := maps.Clone(c.nodes[name].disk)
	maps.DeleteFunc(left, func(id string, _ *podState) bool { return c.truth.sandboxes[id] != nil }) // adopted
	c.mu.Unlock()
	k.spawn(left)
}

// restart brings a kubelet back that was killed while its machine ran on: the
// service manager does, and the pods' sandboxes are not touched. What it slept
// through it learns from what is stored now.
func (k *kubelet) restart(ctx context.Context) error {
	if !sleep(ctx, restartAfter) {
		return ctx.Err()
	}
	n := k.c.node(k.node)
	k.c.mu.Lock()
	same := n.kubelet == k // else power was lost meanwhile
	k.c.mu.Unlock()
	if same {
		k.spawn(nil)
	}
	return nil
}

// spawn starts the process that hears of pods; left are the sandboxes of an
// earlier boot.
func (k *kubelet) spawn(left map[string]*podState) {
	c, name := k.c, k.node
	in := c.subscribe(func(ch kube.Change) bool { return boundTo(ch, name) })
	k.in = in
	mine := c.podsOn(name)
	c.w.Spawn(sim.Process{ID: sim.ActorID("kubelet/" + name), Group: name, Run: func(ctx context.Context, g *sim.Gate) error {
		defer c.unsubscribe(in)
		for _, p := range k.vanished() {
			k.gone(p)
		}
		for _, id := range slices.Sorted(maps.Keys(left)) {
			k.recover(left[id])
		}
		for _, p := range mine {
			k.heard(p)
		}
		return k.run(ctx, g)
	}})
}

// vanished are the pods that have a worker and are no longer stored.
func (k *kubelet) vanished() []*corev1.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*corev1.Pod
	for _, uid := range slices.Sorted(maps.Keys(k.workers)) {
		if p := k.workers[uid].last(); !k.c.exists(p) {
			out = append(out, p)
		}
	}
	return out
}

func boundTo(ch kube.Change, node string) bool {
	for _, o := range []any{ch.Object, ch.Old} {
		if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName == node {
			return true
		}
	}
	return false
}

func (k *kubelet) run(ctx context.Context, g *sim.Gate) error {
	for {
		heard, err := k.in.next(ctx, g)
		if err != nil {
			return err
		}
		for _, ch := range heard {
			if p, ok := ch.Object.(*corev1.Pod); ok {
				k.heard(p)
			} else if p, ok := ch.Old.(*corev1.Pod); ok {
				k.gone(p)
			}
		}
	}
}

func (k *kubelet) worker(uid types.UID) *worker {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.workers[uid]
}

// heard of a pod that is bound here: start its worker, or tell it.
func (k *kubelet) heard(p *corev1.Pod) {
	switch w := k.worker(p.UID); {
	case w != nil: // or it has done its work, and this is old news
		w.tell(p, false)
	case finished(p):
	default:
		k.start(newWorker(k, p))
	}
}

// gone: the object was removed without the kubelet's doing (force deletion).
func (k *kubelet) gone(p *corev1.Pod) {
	if w := k.worker(p.UID); w != nil {
		w.tell(p, true)
		k.mu.Lock()
		delete(k.workers, p.UID)
		k.mu.Unlock()
	}
}

// recover takes over what the container runtime remembers after a reboot: the
// sandbox is dead, but CNI DEL has not been run for it.
func (k *kubelet) recover(dead *podState) {
	if w := k.worker(dead.pod.UID); w != nil {
		w.dead = append(w.dead, dead) // its worker has been spawned but not run yet
		return
	}
	w := newWorker(k, dead.pod)
	w.dead = append(w.dead, dead)
	w.gone = !k.c.exists(dead.pod)
	k.start(w)
}

func (k *kubelet) start(w *worker) {
	k.mu.Lock()
	k.workers[w.pod.UID] = w
	k.mu.Unlock()
	id := k.c.unique("kubelet/" + k.node + "/" + w.key.String())
	k.c.w.Spawn(sim.Process{ID: sim.ActorID(id), Group: k.node, Run: func(ctx context.Context, g *sim.Gate) error {
		w.client = client{k.c.api.Door(g)}
		return w.run(ctx, g)
	}})
}

// exists reports whether this very pod is still stored.
func (c *Cluster) exists(p *corev1.Pod) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.pods[ref(p)]
	return q != nil && q.UID == p.UID
}

func finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func ref(p *corev1.Pod) model.PodRef { return model.PodRef{Namespace: p.Namespace, Name: p.Name} }

func sortedPods(m map[model.PodRef]*pod) []model.PodRef {
	return slices.SortedFunc(maps.Keys(m), func(a, b model.PodRef) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
