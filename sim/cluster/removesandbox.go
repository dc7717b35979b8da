package cluster

import (
	"context"
	"slices"

	"ipamsim/sim/cluster/kubeapi"
)

// removeSandboxes is the container garbage collector with what is left of a pod that is
// gone: it has each sandbox stopped again, and the runtime stops it once more before it
// forgets it. DEL is called each time, for the runtime has kept the ADD's result. A removal
// that fails is begun again at the next pass.
//
// It is left out unless Timers.ContainerGC says when it comes by; then also of pods that
// finish and stay stored, and of kubelets that die before.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go, evictSandboxes and removeSandbox
// (v1.34.1); containerd 2, internal/cri/server, RemovePodSandbox and stopPodSandbox.
func (w *worker) removeSandboxes(ctx context.Context) error {
	every := w.c.Config.Timers.ContainerGC
	if every == 0 || w.c.turns.Step > 0 {
		return ctx.Err()
	}
	for len(w.stopped) > 0 && kubeapi.Sleep(ctx, every) {
		w.stopped = slices.DeleteFunc(w.stopped, func(st *podState) bool {
			stoppedAgain := w.del(ctx, st) == nil
			return stoppedAgain && w.del(ctx, st) == nil
		})
	}
	return ctx.Err()
}
