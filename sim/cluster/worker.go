package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/cri"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/cluster/multus"
	"ipamsim/sim/cluster/turns"
	"ipamsim/sim/kube"
)

// worker runs one pod on one node from start to end: sandbox, CNI ADD for each network,
// network-status, Running; and back: containers stopped, CNI DEL, object removed. Each of these is
// a separate message with its own latency.
type worker struct {
	id     sim.ActorID
	c      *Cluster
	k      *kubelet
	client kubeapi.Client
	key    model.PodRef
	uid    types.UID
	found  *cri.Sandbox // the sandbox that runs already

	// In turns only.
	holds bool          // it is this worker's turn
	due   time.Duration // when it was to try last
	tried int           // number of that attempt among all attempts in the cluster

	mu         sync.Mutex
	pod        *corev1.Pod
	gone       bool // the object is no longer stored
	terminated bool // all sandboxes are stopped, and there will be no other
	wake       chan struct{}
	making     *cri.Sandbox // the sandbox that the runtime is making for it
}

func newWorker(k *kubelet, p *corev1.Pod) *worker {
	w := &worker{c: k.c, k: k, key: kubeapi.Ref(p), uid: p.UID, pod: p, wake: make(chan struct{}, 1)}
	w.found, _ = k.c.record(k.node).Of(p.UID)
	return w
}

// request is a request to the pod's own machine.
func (w *worker) request(verb, what string) *sim.Request {
	return &sim.Request{Verb: verb, Resource: what, Namespace: w.key.Namespace, Name: w.key.Name}
}

// update gives the worker the newest state of its pod and wakes it.
func (w *worker) update(p *corev1.Pod, gone bool) {
	w.mu.Lock()
	w.pod, w.gone = p, w.gone || gone
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// unwanted reports whether the pod is to be torn down.
func (w *worker) unwanted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone || w.pod.DeletionTimestamp != nil
}

func (w *worker) run(ctx context.Context, g *sim.Gate) error {
	defer w.done()
	worked, lost := w.worked() || kubeapi.Finished(w.pod), w.lost()
	if w.c.turns.Step > 0 && len(w.dead()) > 0 && w.turn(ctx, turns.Lost) {
		w.stopDead(ctx)
	}
	up := w.found
	if up != nil && w.pod.Status.Phase != corev1.PodRunning && !w.unwanted() {
		if err := w.insist(ctx, func() error { return w.setPhase(ctx, "start", corev1.PodRunning, up.IPs...) }); err != nil {
			return err
		}
	}
	for class := turns.Other; up == nil && !worked && !lost && !w.unwanted(); class = turns.Again {
		if !w.turn(ctx, class) {
			return ctx.Err()
		}
		w.tries(class == turns.Other)
		var err error
		up, err = w.bringUp(ctx, g)
		w.done()
		if ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil && !w.again(ctx) {
			return ctx.Err()
		}
	}
	worked = worked || up != nil && w.live(ctx, up)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if up != nil {
		if up.Worked = worked; !w.stopContainers(ctx, g, up) {
			return ctx.Err()
		}
	}
	if !w.stopAll(ctx) {
		return ctx.Err()
	}
	w.setTerminated()
	if kubeapi.Finished(w.pod) && !w.unwanted() {
		return nil
	}
	switch {
	case worked:
		return w.insist(ctx, func() error { return w.setPhase(ctx, "status", kubeapi.Outcome(w.pod)) })
	case lost && !w.unwanted():
		return w.insist(ctx, func() error { return w.setPhase(ctx, "status", corev1.PodFailed) })
	}
	return w.leave(ctx, up)
}

func (w *worker) setTerminated() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.terminated = true
}

// leave deletes the pod object once nothing of the pod is left on the machine. It first writes
// the final status: Kubernetes' own controllers see it in between.
//
// Source: pkg/kubelet/status/status_manager.go, TerminatePod and canBeDeleted (v1.37.2).
func (w *worker) leave(ctx context.Context, ran *cri.Sandbox) error {
	if w.c.api.Controlled() && !w.aim().gone && !kubeapi.Finished(w.pod) {
		last := corev1.PodFailed // its containers never ran
		if ran != nil {
			last = kubeapi.Outcome(w.pod)
		}
		if err := w.insist(ctx, func() error { return w.setPhase(ctx, "status", last) }); err != nil {
			return err
		}
	}
	return w.insist(ctx, func() error { return w.remove(ctx) })
}

// worked reports whether an earlier kubelet has seen the pod's containers end by
// themselves.
func (w *worker) worked() bool {
	return slices.ContainsFunc(w.dead(), func(st *cri.Sandbox) bool { return st.Worked })
}

// lost reports whether the pod's containers had started, do not run, and must not be started
// again: it has failed, and gets no other sandbox.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions and
// shouldRestartOnFailure; pkg/kubelet/kubelet_pods.go, getPhase (v1.37.2).
func (w *worker) lost() bool {
	return w.found == nil && w.pod.Spec.RestartPolicy == corev1.RestartPolicyNever &&
		slices.ContainsFunc(w.dead(), func(st *cri.Sandbox) bool { return st.Result })
}

// live waits until the pod has to be deleted. It returns true if the pod completed by itself: a
// Job's pod.
func (w *worker) live(ctx context.Context, up *cri.Sandbox) bool {
	var work <-chan time.Time
	if d := kubeapi.RunFor(w.pod); d > 0 {
		t := time.NewTimer(max(0, up.Began+d-w.c.World.Now()))
		defer t.Stop()
		work = t.C
	}
	for !w.unwanted() {
		select {
		case <-w.wake:
			if w.outdated() && w.insist(ctx, func() error { return w.setPhase(ctx, "status", corev1.PodRunning, up.IPs...) }) != nil {
				return false
			}
		case <-work:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// outdated reports whether a controller has marked the running pod as not ready, because its
// node was silent.
//
// Source: pkg/kubelet/status, needsReconcile (v1.37.2).
func (w *worker) outdated() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.gone && w.pod.DeletionTimestamp == nil && w.pod.Status.Phase == corev1.PodRunning && kubeapi.Lacks(w.pod, corev1.PodReady)
}

// pause waits before the next attempt. It ends early if enough returns true: the real pod worker
// then has a pending update, which it handles immediately.
func (w *worker) pause(ctx context.Context, d time.Duration, enough func() bool) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	for !enough() {
		select {
		case <-w.wake:
		case <-t.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// insist repeats a request until the server has answered it for good.
func (w *worker) insist(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			return ctx.Err()
		}
		if !kubeapi.Sleep(ctx, w.c.Config.Timers.APIRetry) {
			return ctx.Err()
		}
	}
}

// bringUp makes one attempt to create a sandbox, after the pod's other sandboxes are stopped. It
// returns nil and no error if the pod is no longer wanted, and an error if the kubelet should retry
// later.
func (w *worker) bringUp(ctx context.Context, g *sim.Gate) (*cri.Sandbox, error) {
	if !w.c.runtimeAnswers(w.k.node) {
		return nil, errNoRuntime
	}
	if !w.stopDead(ctx) {
		return nil, errNotStopped
	}
	st := &cri.Sandbox{Pod: w.pod, Container: w.c.newContainer(w.pod, w.k.node)}
	w.makes(st)
	defer w.makes(nil)
	err := g.Pass(ctx, sim.Op{Kind: sim.Local, Class: "sandbox", Key: "CREATE sandbox " + w.key.String(), Request: w.request("CREATE", "sandbox")}, func(context.Context) error {
		w.c.Checker.SandboxUp(model.Sandbox{ID: st.Container, Pod: w.key, UID: string(w.pod.UID), Node: w.k.node})
		w.c.remember(w.k.node, st)
		return nil
	})
	if err != nil {
		return nil, err
	}
	got, err := w.add(ctx, st)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && w.c.asks(st.Pod) {
		if err = w.annotate(ctx, got); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if st.Result = err == nil; st.Result {
		st.IPs, st.Began = w.c.podIPs(got), w.c.World.Now()
	}
	if err != nil || w.unwanted() {
		w.c.Checker.SandboxDown(st.Container, "sandbox given up")
		if err != nil {
			w.undoSandbox(ctx, st)
		}
		return nil, err
	}
	w.makes(nil)
	return st, w.insist(ctx, func() error { return w.setPhase(ctx, "start", corev1.PodRunning, st.IPs...) })
}

// annotate writes network-status, as Multus does at the end of its ADD. A pod that is gone by then
// needs none.
func (w *worker) annotate(ctx context.Context, got []attached) error {
	patch := map[string]any{"metadata": map[string]any{
		"uid":         w.pod.UID,
		"annotations": map[string]string{multus.StatusAnnotation: statusOf(got)},
	}}
	err := w.client.Patch(kube.WithClass(ctx, "annotate"), w.path()+"/status", kubeapi.MergePatch, patch)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (w *worker) setPhase(ctx context.Context, class string, phase corev1.PodPhase, ips ...corev1.PodIP) error {
	ready := corev1.ConditionFalse
	if phase == corev1.PodRunning {
		ready = corev1.ConditionTrue
	}
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: ready}
	status := map[string]any{"phase": phase}
	if len(ips) > 0 {
		status["podIP"], status["podIPs"] = ips[0].IP, ips
	}
	contentType := kubeapi.MergePatch
	if w.c.api.Controlled() { // Kubernetes' own controllers read other conditions and their times, and write some
		contentType = kubeapi.StrategicPatch
		condition.LastTransitionTime = metav1.Now()
		if len(ips) > 0 {
			all := []any{map[string]string{"$patch": "replace"}}
			for _, ip := range ips {
				all = append(all, ip)
			}
			status["podIPs"] = all
		}
	}
	status["conditions"] = []corev1.PodCondition{condition}
	patch := map[string]any{"metadata": map[string]any{"uid": w.pod.UID}, "status": status}
	return w.client.Patch(kube.WithClass(ctx, class), w.path()+"/status", contentType, patch)
}

func (w *worker) remove(ctx context.Context) error {
	o := kubeapi.Deletion(true)
	o.Preconditions = &metav1.Preconditions{UID: &w.pod.UID}
	return w.client.Delete(kube.WithClass(ctx, "status"), w.path(), o)
}

// path is the pod's own in the API.
func (w *worker) path() string { return kubeapi.Pods.Path(w.key.Namespace, w.key.Name) }

// newContainer is the id of a pod's next sandbox.
//
// The cluster counts the pod's sandboxes, not the worker: a pod that survives a reboot gets a
// second worker, and with the id of the first sandbox its new one would own everything that the
// dead one left claimed.
func (c *Cluster) newContainer(p *corev1.Pod, node string) string {
	return cri.NewID(p, node, c.count("sandbox of "+string(p.UID)))
}
