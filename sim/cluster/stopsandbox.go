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
	"ipamsim/sim/cluster/cri"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/cluster/multus"
	"ipamsim/sim/cluster/turns"
	"ipamsim/sim/disk"
	"ipamsim/sim/kube"
)

// A sandbox is stopped when its DEL has succeeded, and a kubelet retries until then: before, the
// pod is neither removed nor gets another sandbox. The runtime keeps a stopped sandbox until the
// kubelet's garbage collector removes it, and the kubelet stops a pod's sandboxes again with each
// later one. DEL is called each time, because the runtime has kept the ADD's result.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go, killPodWithSyncResult and
// SyncPod, step 2; pkg/kubelet/pod_workers.go, completeWork (v1.37.2); containerd 2,
// internal/cri/server, stopPodSandbox.

// errNotStopped is why a pod gets no new sandbox yet.
var errNotStopped = errors.New("a sandbox of the pod is not stopped")

// stopAll stops the pod's sandboxes until there are none. The kubelet tries again SandboxRetry
// after a failure (backOffPeriod, here without its jitter), and immediately when the desired
// state of the pod changes. If the pod is no longer stored, nothing is in its queue:
// housekeeping starts again. It reports false if the kubelet died.
//
// Source: pkg/kubelet/kubelet.go, getPodsToSync; pkg/kubelet/kubelet_pods.go,
// HandlePodCleanups (v1.37.2).
func (w *worker) stopAll(ctx context.Context) bool {
	for len(w.dead()) > 0 {
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

const housekeeping = 2 * time.Second // kubelet.go, housekeepingPeriod

// stopContainers ends what runs in a sandbox. It reports false if the kubelet died.
func (w *worker) stopContainers(ctx context.Context, g *sim.Gate, up *cri.Sandbox) bool {
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
	w.c.Checker.SandboxDown(up.Container, "containers stopped")
	return true
}

// aim is the desired state of a pod that has to be deleted.
type aim struct{ deleted, gone bool }

func (w *worker) aim() aim {
	w.mu.Lock()
	defer w.mu.Unlock()
	return aim{w.pod.DeletionTimestamp != nil, w.gone}
}

// dead are the pod's sandboxes in the runtime's record that do not run, oldest first.
func (w *worker) dead() []*cri.Sandbox {
	_, dead := w.c.record(w.k.node).Of(w.uid)
	return dead
}

// stopDead makes one attempt to stop each of the pod's dead sandboxes, the newest first, even if
// some fail, and reports whether all are stopped.
func (w *worker) stopDead(ctx context.Context) bool {
	all := true
	for _, st := range slices.Backward(w.dead()) {
		all = w.stopSandbox(ctx, st) && all
	}
	return all && ctx.Err() == nil
}

// stopSandbox is the runtime's StopPodSandbox. The failure of a DEL counts only if the ADD had
// succeeded. With turns the sandbox is removed as well, as in the reference.
//
// Source: containerd 2, internal/cri/server, stopPodSandbox.
func (w *worker) stopSandbox(ctx context.Context, st *cri.Sandbox) bool {
	r := w.c.record(w.k.node)
	if !r.Claim(st, w.id, w.c.World.Alive) {
		return false
	}
	defer r.Release(st, w.id)
	err := w.del(ctx, st, w.c.World.Now()+stopLimit)
	if ctx.Err() != nil || errors.Is(err, errNoRuntime) || err != nil && st.Result {
		return false
	}
	if w.c.turns.Step > 0 {
		w.c.forget(w.k.node, st)
		return true
	}
	st.Stopped = true
	w.c.Checker.SandboxGone(st.Container)
	w.k.collectGarbage()
	return true
}

// undoSandbox is the runtime's clean-up after it failed to create a sandbox: one DEL. It forgets
// the sandbox even if the DEL fails.
//
// Source: containerd 2, internal/cri/server, RunPodSandbox.
func (w *worker) undoSandbox(ctx context.Context, st *cri.Sandbox) {
	err := w.del(ctx, st, w.c.World.Now()+undoLimit)
	if ctx.Err() == nil && !errors.Is(err, errNoRuntime) {
		w.c.forget(w.k.node, st)
	}
}

// How long calls of the runtime may take. Then the plugin that it has called is killed.
//
// Source: pkg/kubelet/apis/config/v1beta1/defaults.go, RuntimeRequestTimeout;
// cri-client/pkg/remote_runtime.go, RunPodSandbox (v1.37.2); containerd 2, internal/cri/util,
// DeferContext.
const (
	stopLimit = 2 * time.Minute
	makeLimit = 2 * stopLimit
	undoLimit = time.Minute
)

// del calls DEL for a sandbox's networks. Multus has them from its file, which goes with
// the first DEL, also with one that fails (retryDeleteOnError is not set). After that it has
// them from the pod: if the pod is gone, or cannot be read, it succeeds and calls no plugin.
// A Multus that is killed removes no file.
//
// Source: multus-cni, pkg/multus, CmdDel and consumeScratchNetConf (v4.2.3).
func (w *worker) del(ctx context.Context, st *cri.Sandbox, until time.Duration) error {
	if !st.Tried || !st.HasNetworks(w.disk()) && !w.stored(ctx, st) {
		return ctx.Err()
	}
	err := w.delNetworks(ctx, st, w.c.networksOf(st.Pod), until)
	if ctx.Err() == nil && !errors.Is(err, errNoRuntime) && !errors.Is(err, errDeadline) && w.c.asks(st.Pod) {
		st.RemoveNetworks(w.disk())
	}
	return err
}

// disk is the machine's, nil if nothing uses one.
func (w *worker) disk() *disk.Disk { return w.c.backends.Used(w.k.node) }

// delNetworks calls DEL for all networks, last first, even if some fail, until the runtime's
// deadline.
//
// Source: multus-cni, pkg/multus, delPlugins (v4.2.3).
func (w *worker) delNetworks(ctx context.Context, st *cri.Sandbox, networks []multus.Network, until time.Duration) error {
	var errs []error
	for _, n := range slices.Backward(networks) {
		err := w.c.cniDel(ctx, w.call(st, n, until))
		if errs = append(errs, err); errors.Is(err, errDeadline) {
			break
		}
	}
	return errors.Join(errs...)
}

// Multus asks the API server for a pod again and again, if need be, and then once more.
const (
	podPoll  = 250 * time.Millisecond
	podLimit = 10*podPoll + podPoll
)

// stored reports whether Multus finds the pod of a sandbox. It waits for one answer until podLimit;
// the real Multus repeats the request if there is no answer within podPoll.
//
// Source: multus-cni, pkg/multus, GetPod (v4.2.3).
func (w *worker) stored(ctx context.Context, st *cri.Sandbox) bool {
	ctx, cancel := context.WithTimeout(ctx, podLimit)
	defer cancel()
	for {
		b, err := w.client.Do(kube.WithClass(ctx, "status"), http.MethodGet, w.path(), "application/json", nil)
		switch {
		case err == nil:
			p := metav1.PartialObjectMetadata{}
			return json.Unmarshal(b, &p) == nil && p.UID == st.Pod.UID
		case apierrors.IsNotFound(err) || !kubeapi.Sleep(ctx, podPoll):
			return false
		}
	}
}
