package cluster

import (
	"context"
	"errors"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// A sandbox is gone once its DEL has succeeded, and a kubelet does not give up before:
// until then the pod neither goes nor gets another sandbox.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go, killPodWithSyncResult and
// SyncPod, step 2; pkg/kubelet/pod_workers.go, completeWork (v1.34.1).

// errNotStopped is why a pod gets no new sandbox yet.
var errNotStopped = errors.New("a sandbox of the pod is not stopped")

// stopAll stops the pod's sandboxes until there are none. The kubelet tries again
// SandboxRetry after it failed (backOffPeriod, here without its jitter), and at once
// when something else is wanted of the pod. It reports false if the kubelet died.
func (w *worker) stopAll(ctx context.Context) bool {
	for len(w.dead) > 0 {
		if !w.holds && !w.turn(ctx, turnLost) {
			return false
		}
		if w.stopDead(ctx) {
			break
		}
		w.done()
		was := w.aim()
		if !w.pause(ctx, w.c.cfg.Timers.SandboxRetry, func() bool { return w.aim() != was }) {
			return false
		}
	}
	return ctx.Err() == nil
}

// collect is the container garbage collector: it tries again at each of its passes,
// of which the first comes before the kubelet knows that the pod is gone.
//
// Source: pkg/kubelet/kubelet.go, StartGarbageCollection and ContainerGCPeriod;
// pkg/kubelet/pod_workers.go, ShouldPodContentBeRemoved (v1.34.1).
func (w *worker) collect(ctx context.Context) error {
	for len(w.dead) > 0 && kubeapi.Sleep(ctx, containerGC) && w.turn(ctx, turnLost) {
		w.stopDead(ctx)
		w.done()
	}
	return ctx.Err()
}

const containerGC = time.Minute

// stopContainers ends what runs in a sandbox. It reports false if the kubelet died.
func (w *worker) stopContainers(ctx context.Context, g *sim.Gate, up *podState) bool {
	if !w.turn(ctx, turnOther) {
		return false
	}
	for !w.c.runtimeAnswers(w.k.node) {
		if w.done(); !kubeapi.Sleep(ctx, w.c.cfg.Timers.SandboxRetry) || !w.turn(ctx, turnOther) {
			return false
		}
	}
	_ = g.Pass(ctx, sim.Op{Kind: sim.Local, Class: "stop", Key: "STOP containers " + w.key.String(), Request: w.request("STOP", "containers")}, func(context.Context) error { return nil })
	if ctx.Err() != nil {
		return false
	}
	w.c.sandboxDown(up.container, "containers stopped")
	w.dead = append(w.dead, up)
	return true
}

// aim is what is wanted of a pod that has to go.
type aim struct{ deleted, gone bool }

func (w *worker) aim() aim {
	w.mu.Lock()
	defer w.mu.Unlock()
	return aim{w.pod.DeletionTimestamp != nil, w.gone}
}

// stopDead tries once to stop each of the pod's sandboxes, whichever fail, and
// reports whether none is left.
func (w *worker) stopDead(ctx context.Context) bool {
	var left []*podState
	for _, st := range w.dead {
		if !w.stopSandbox(ctx, st) {
			left = append(left, st)
		}
	}
	w.dead = left
	return len(left) == 0 && ctx.Err() == nil
}

// stopSandbox is the runtime's StopPodSandbox and RemovePodSandbox: it forgets the
// sandbox once DEL has succeeded. Of one whose ADD had failed it forgets it in any
// case; what the ADD has left then is nobody's.
//
// Source: containerd 2, internal/cri/server, RunPodSandbox and stopPodSandbox:
// a failed teardown counts only if there is a CNIResult.
func (w *worker) stopSandbox(ctx context.Context, st *podState) bool {
	err := w.del(ctx, st)
	if ctx.Err() != nil || errors.Is(err, errNoRuntime) || err != nil && st.result {
		return false
	}
	w.c.forget(w.k.node, st)
	return true
}

// del is Multus' DEL: the networks that ADD was tried for, last first, and all of
// them, whichever fail. A later DEL is for all of them again.
//
// Source: multus-cni, pkg/multus, delPlugins.
func (w *worker) del(ctx context.Context, st *podState) error {
	var errs []error
	all := w.c.networksOf(st.pod)
	for i := len(st.networks) - 1; i >= 0; i-- {
		errs = append(errs, w.c.cniDel(ctx, w.id, w.call(st, all[i])))
	}
	return errors.Join(errs...)
}
