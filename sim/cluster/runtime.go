package cluster

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/kubeapi"
)

// The container runtime is no process here: it acts within the pod worker that calls
// it. What is its own is this record of sandboxes, which is on its disk, and what it
// does when its caller is gone.

// remember and forget are the container runtime's record of a sandbox on disk.
func (c *Cluster) remember(node string, st *podState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[node]
	n.disk[st.container], st.number = st, n.sandboxes
	n.sandboxes++
}

func (c *Cluster) forget(node string, st *podState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.nodes[node].disk, st.container)
	c.Checker.SandboxGone(st.container)
}

// recorded are the sandboxes on a node's disk, oldest first. Called with mu held.
func (c *Cluster) recorded(node string) []*podState {
	return slices.SortedFunc(maps.Values(c.nodes[node].disk), func(a, b *podState) int { return a.number - b.number })
}

// sandboxesOf are those that a node's runtime has of a pod: the one that runs, nil if
// none does, and the others, oldest first, which want their DEL.
func (c *Cluster) sandboxesOf(node string, uid types.UID) (up *podState, dead []*podState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, st := range c.recorded(node) {
		switch {
		case st.pod.UID != uid || st.undone:
		case st.result && c.Checker.Runs(st.container) && up == nil:
			up = st
		default:
			dead = append(dead, st)
		}
	}
	return up, dead
}

// left are the sandboxes that a kubelet finds when it starts, oldest first, and that no
// stored pod lives in: it is dead, or the pod is gone.
func (c *Cluster) left(node string) (out []*podState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, st := range c.recorded(node) {
		p := c.Cache.Pod(kubeapi.Ref(st.pod))
		lives := c.Checker.Runs(st.container) && p != nil && p.UID == st.pod.UID
		if !lives && !st.undone {
			out = append(out, st)
		}
	}
	return out
}

// makes notes which sandbox the runtime is making for the pod.
func (w *worker) makes(st *podState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.making = st
}

// die ends all that is the kubelet's: its pod workers are goroutines of it. What they
// have asked of the runtime ends with them, because a call whose caller has hung up
// is cancelled, and a cancelled call kills the plugin. An ADD that was cut off is
// then undone by one DEL of the runtime's own.
//
// Source: google.golang.org/grpc/internal/transport, http2Server.Close; libcni,
// pkg/invoke/raw_exec.go, ExecPlugin; containerd 2, internal/cri/server,
// RunPodSandbox.
func (k *kubelet) die() {
	k.mu.Lock()
	alive := k.alive
	k.alive, k.workers = nil, map[types.UID]*worker{}
	k.mu.Unlock()
	k.c.World.Kill(k.registers)
	for _, w := range alive {
		k.c.World.Kill(w.id)
		k.c.Checker.CutOff(func(b *checker.Call) bool { return b.By == w.id }, func(b *checker.Call) error {
			k.c.World.Kill(b.Plugin.ID)
			return sim.ErrKilled
		})
		w.mu.Lock()
		st := w.making
		w.mu.Unlock()
		if st != nil {
			k.undo(st)
		}
	}
}

// undo is what the runtime does about a sandbox whose making was cut off.
func (k *kubelet) undo(st *podState) {
	w := &worker{c: k.c, k: k, key: kubeapi.Ref(st.pod), pod: st.pod}
	w.id = sim.ActorID(k.c.Name("runtime/" + k.node + "/" + w.key.String()))
	if !k.c.undoes(k.node, st, w.id) {
		return // it had not begun
	}
	k.c.World.Spawn(sim.Process{ID: w.id, Group: k.node, Run: func(ctx context.Context, _ *sim.Gate) error {
		w.stopSandbox(ctx, st)
		return ctx.Err()
	}})
}

func (c *Cluster) undoes(node string, st *podState, by sim.ActorID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[node]
	if n.disk[st.container] != st {
		return false
	}
	st.undone = true
	n.undoing = append(n.undoing, by)
	c.Checker.SandboxDown(st.container, "sandbox given up")
	return true
}
