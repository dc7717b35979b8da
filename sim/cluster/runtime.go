package cluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/cri"
	"ipamsim/sim/cluster/kubeapi"
)

// The container runtime is not a process here: its code runs in the pod worker that calls it. Its
// own parts are this record of sandboxes, which is on its disk, and the actions after its caller is
// gone.

// record is the record of a node's runtime.
func (c *Cluster) record(node string) *cri.Record { return c.node(node).record }

// remember and forget put a sandbox on record, and take it off.
func (c *Cluster) remember(node string, st *cri.Sandbox) {
	c.record(node).Add(st)
	c.Checker.SandboxKept(node, st.Container)
}

func (c *Cluster) forget(node string, st *cri.Sandbox) {
	c.record(node).Remove(st)
	c.Checker.SandboxRemoved(node, kubeapi.Ref(st.Pod), st.Container)
}

// left are the sandboxes that a kubelet finds when it starts, oldest first, that are not
// stopped and that no stored pod runs in: the sandbox is dead, or the pod is gone.
func (c *Cluster) left(node string) []*cri.Sandbox {
	return slices.DeleteFunc(c.record(node).All(), func(st *cri.Sandbox) bool {
		return st.Stopped || c.Checker.Runs(st.Container) && c.exists(st.Pod)
	})
}

// makes records which sandbox the runtime is creating for the pod.
func (w *worker) makes(st *cri.Sandbox) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.making = st
}

// die ends all goroutines of the kubelet, including its pod workers. Their calls to the runtime end
// with them, because a call is cancelled when its caller disconnects. A cancelled call kills the
// plugin, but not the IPAM plugin that the plugin has started. The runtime then undoes an
// interrupted ADD by one DEL.
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
	k.hangUp(k.collector)
	for _, w := range alive {
		k.hangUp(w.id)
		w.mu.Lock()
		st := w.making
		w.mu.Unlock()
		if st != nil {
			k.undo(st)
		}
	}
}

// hangUp kills a goroutine of the kubelet and ends its calls to the runtime.
func (k *kubelet) hangUp(id sim.ActorID) {
	k.c.World.Kill(id)
	k.c.Checker.CutOff(func(b *checker.Call) bool { return b.By == id }, func(b *checker.Call) error {
		return k.c.killPlugin(b.Plugin.ID)
	})
}

// undo is the runtime's clean-up of a sandbox whose creation was interrupted.
func (k *kubelet) undo(st *cri.Sandbox) {
	w := &worker{c: k.c, k: k, key: kubeapi.Ref(st.Pod), pod: st.Pod}
	w.id = sim.ActorID(k.c.Name("runtime/" + k.node + "/" + w.key.String()))
	if !k.c.record(k.node).Undo(st) {
		return // it had not begun
	}
	k.c.mu.Lock()
	n := k.c.nodes[k.node]
	n.undoing = append(n.undoing, w.id)
	k.c.mu.Unlock()
	k.c.Checker.SandboxDown(st.Container, "sandbox given up")
	k.c.World.Spawn(sim.Process{ID: w.id, Group: k.node, Run: func(ctx context.Context, _ *sim.Gate) error {
		w.undoSandbox(ctx, st)
		return ctx.Err()
	}})
}
