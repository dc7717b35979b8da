package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/cluster/cri"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// kubelet runs the pods that are bound to its node: one process that receives their changes, and
// one worker for each pod, as in the real kubelet.
type kubelet struct {
	c    *Cluster
	node string
	in   *kubeapi.Informer

	mu        sync.Mutex
	workers   map[types.UID]*worker
	registers sim.ActorID   // the process of it that registers its Node
	collector sim.ActorID   // its container garbage collector
	started   time.Duration // when its process did
	alive     []*worker     // that run, oldest first, also those of pods that are no longer stored
}

func (c *Cluster) startKubelet(name string) {
	k := &kubelet{c: c, node: name, workers: map[types.UID]*worker{}}
	c.mu.Lock()
	c.nodes[name].kubelet = k
	c.mu.Unlock()
	k.spawn()
}

// restart starts a kubelet again that was killed while its machine kept running, as the service
// manager does. The pods' sandboxes are not touched. The kubelet learns the missed changes from the
// stored objects and from the runtime.
func (k *kubelet) restart(ctx context.Context) error {
	if !kubeapi.Sleep(ctx, restartAfter) {
		return ctx.Err()
	}
	n := k.c.node(k.node)
	k.c.mu.Lock()
	same := n.kubelet == k // otherwise power was lost in the meantime
	k.c.mu.Unlock()
	if same {
		k.spawn()
	}
	return nil
}

// spawn starts the process that receives changes of pods. First it reads the sandboxes of an
// earlier kubelet from the runtime.
func (k *kubelet) spawn() {
	c, name := k.c, k.node
	k.started = c.World.Now()
	k.register()
	k.collectGarbage()
	in := c.feed.Subscribe(func(ch kube.Change) bool { return boundTo(ch, name) })
	k.in = in
	mine, left := c.Cache.PodsOn(name), c.left(name)
	c.World.Spawn(sim.Process{ID: sim.ActorID("kubelet/" + name), Group: name, Run: func(ctx context.Context, g *sim.Gate) error {
		defer c.feed.Unsubscribe(in)
		for _, st := range left {
			k.recover(st)
		}
		for _, p := range mine {
			k.heard(p)
		}
		return k.run(ctx, g)
	}})
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
		heard, err := k.in.Next(ctx, g)
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

// heard handles a pod that is bound here: it starts the pod's worker, or passes the pod to it.
func (k *kubelet) heard(p *corev1.Pod) {
	switch w := k.worker(p.UID); {
	case w != nil: // or it has done its work, and this is old news
		w.update(p, false)
	case kubeapi.Finished(p):
	default:
		k.start(newWorker(k, p))
	}
}

// gone: the object was removed without the kubelet's doing (force deletion).
func (k *kubelet) gone(p *corev1.Pod) {
	if w := k.worker(p.UID); w != nil {
		w.update(p, true)
		k.mu.Lock()
		delete(k.workers, p.UID)
		k.mu.Unlock()
	}
}

// recover takes over a sandbox that needs its DEL, or whose pod is no longer stored.
//
// One that runs is stopped immediately (HandlePodCleanups, pkg/kubelet/kubelet_pods.go,
// v1.37.2). One that is dead and whose pod is gone is left to the container garbage
// collector; in turns it is stopped immediately, as the reference has it.
func (k *kubelet) recover(st *cri.Sandbox) {
	if k.worker(st.Pod.UID) != nil {
		return // it has taken all that its pod has
	}
	w := newWorker(k, st.Pod)
	w.gone = !k.c.exists(st.Pod)
	if w.gone && w.found == nil && k.c.turns.Step == 0 {
		return
	}
	k.start(w)
}

func (k *kubelet) start(w *worker) {
	w.id = sim.ActorID(k.c.Name("kubelet/" + k.node + "/" + w.key.String()))
	k.mu.Lock()
	k.workers[w.pod.UID] = w
	k.alive = append(k.alive, w)
	k.mu.Unlock()
	k.c.World.Spawn(sim.Process{ID: w.id, Group: k.node, Run: func(ctx context.Context, g *sim.Gate) error {
		defer k.ended(w)
		w.client = kubeapi.New(k.c.api.Transport(g))
		return w.run(ctx, g)
	}})
}

func (k *kubelet) ended(w *worker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.alive = slices.DeleteFunc(k.alive, func(x *worker) bool { return x == w })
}

// exists reports whether this very pod is still stored.
func (c *Cluster) exists(p *corev1.Pod) bool {
	q := c.Cache.Pod(kubeapi.Ref(p))
	return q != nil && q.UID == p.UID
}
