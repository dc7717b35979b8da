package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/cluster/multus"
	"ipamsim/sim/cluster/turns"
	"ipamsim/sim/kube"
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
// when something else is wanted of the pod. Of one that is no longer stored nothing is in
// its queue: housekeeping begins anew. It reports false if the kubelet died.
//
// Source: pkg/kubelet/kubelet.go, getPodsToSync; pkg/kubelet/kubelet_pods.go,
// HandlePodCleanups (v1.34.1).
func (w *worker) stopAll(ctx context.Context) bool {
	for len(w.dead) > 0 {
		if !w.holds && !w.turn(ctx, turns.Lost) {
			return false
		}
		if w.stopDead(ctx) {
			break
		}
		w.done()
		was, retry := w.aim(), w.c.Config.Timers.SandboxRetry
		if was.gone && w.c.turns.Step == 0 {
			retry = housekeeping
		}
		if !w.pause(ctx, retry, func() bool { return w.aim() != was }) {
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
	for len(w.dead) > 0 && kubeapi.Sleep(ctx, containerGC) && w.turn(ctx, turns.Lost) {
		w.stopDead(ctx)
		w.done()
	}
	return ctx.Err()
}

const (
	containerGC  = time.Minute
	housekeeping = 2 * time.Second // kubelet.go, housekeepingPeriod
)

// stopContainers ends what runs in a sandbox. It reports false if the kubelet died.
func (w *worker) stopContainers(ctx context.Context, g *sim.Gate, up *podState) bool {
	if !w.turn(ctx, turns.Other) {
		return false
	}
	for !w.c.runtimeAnswers(w.k.node) {
		if w.done(); !kubeapi.Sleep(ctx, w.c.Config.Timers.SandboxRetry) || !w.turn(ctx, turns.Other) {
			return false
		}
	}
	_ = g.Pass(ctx, sim.Op{Kind: sim.Local, Class: "stop", Key: "STOP containers " + w.key.String(), Request: w.request("STOP", "containers")}, func(context.Context) error { return nil })
	if ctx.Err() != nil {
		return false
	}
	w.c.Checker.SandboxDown(up.container, "containers stopped")
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

// stopDead tries once to stop each of the pod's sandboxes, the newest first, whichever
// fail, and reports whether none is left.
func (w *worker) stopDead(ctx context.Context) bool {
	var left []*podState
	for _, st := range slices.Backward(w.dead) {
		if !w.stopSandbox(ctx, st) {
			left = append(left, st)
		}
	}
	slices.Reverse(left)
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
	if st.result {
		w.stopped = append(w.stopped, st)
	}
	return true
}

// del calls DEL for a sandbox's networks. Multus has them from its file, which goes with
// the first DEL, also with one that fails (retryDeleteOnError is not set). After that it has
// them from the pod: is that gone, or cannot be read, it says that all is well and calls
// nobody.
//
// Source: multus-cni, pkg/multus, CmdDel and consumeScratchNetConf (v4.2.3).
func (w *worker) del(ctx context.Context, st *podState) error {
	if !st.tried || st.forgotten && !w.stored(ctx, st) {
		return ctx.Err()
	}
	err := w.delNetworks(ctx, st, w.c.networksOf(st.pod))
	if ctx.Err() == nil && !errors.Is(err, errNoRuntime) {
		st.forgotten = w.c.asks(st.pod)
	}
	return err
}

// delNetworks calls DEL for networks, last first, and for all of them, whichever fail.
//
// Source: multus-cni, pkg/multus, delPlugins (v4.2.3).
func (w *worker) delNetworks(ctx context.Context, st *podState, networks []multus.Network) error {
	var errs []error
	for _, n := range slices.Backward(networks) {
		errs = append(errs, w.c.cniDel(ctx, w.id, w.call(st, n)))
	}
	return errors.Join(errs...)
}

// Multus asks the API server for a pod again and again, if need be, and then once more.
const (
	podPoll  = 250 * time.Millisecond
	podLimit = 10*podPoll + podPoll
)

// stored is Multus' look at the pod of a sandbox. It has the whole time for one answer; the
// real one asks anew if there is none in podPoll.
//
// Source: multus-cni, pkg/multus, GetPod (v4.2.3).
func (w *worker) stored(ctx context.Context, st *podState) bool {
	ctx, cancel := context.WithTimeout(ctx, podLimit)
	defer cancel()
	for {
		b, err := w.client.Do(kube.WithClass(ctx, "status"), http.MethodGet, w.path(), "application/json", nil)
		switch {
		case err == nil:
			p := metav1.PartialObjectMetadata{}
			return json.Unmarshal(b, &p) == nil && p.UID == st.pod.UID
		case apierrors.IsNotFound(err) || !kubeapi.Sleep(ctx, podPoll):
			return false
		}
	}
}
