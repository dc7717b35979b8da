package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// workload is the controller of one StatefulSet, Deployment, DaemonSet or Job: a
// process that hears of its own object and its pods, and brings the second in
// line with the first.
type workload struct {
	c      *Cluster
	kind   string
	client client
	object func() runtime.Object // the stored object; nil once deleted
	made   int                   // pods made so far
}

// syncs are the kinds of workload: each brings pods in line once and returns an
// error if it should be called again soon.
var syncs = map[string]func(*workload, context.Context) error{
	"statefulsets": (*workload).syncStatefulSet,
	"deployments":  (*workload).syncDeployment,
	"daemonsets":   (*workload).syncDaemonSet,
	"jobs":         (*workload).syncJob,
}

var workloadKinds = map[string]string{
	"statefulsets": "StatefulSet", "deployments": "Deployment", "daemonsets": "DaemonSet", "jobs": "Job",
}

// workloadChanged starts the controller of a workload that is new. Called for
// every committed change, on the root goroutine.
func (c *Cluster) workloadChanged(ch kube.Change) {
	sync, ok := syncs[ch.Resource]
	if !ok || ch.Object == nil || ch.Old != nil {
		return
	}
	uid := meta(ch.Object).GetUID()
	current := ch.Object
	in := c.subscribe(func(x kube.Change) bool {
		if x.Resource == ch.Resource && x.Namespace == ch.Namespace && x.Name == ch.Name {
			current = x.Object
			return true
		}
		return concerns(x, string(uid), ch.Resource == "daemonsets")
	})
	w := &workload{c: c, kind: workloadKinds[ch.Resource], object: func() runtime.Object { return current }}
	id := c.unique(fmt.Sprintf("%s/%s/%s", ch.Resource[:len(ch.Resource)-1], ch.Namespace, ch.Name))
	c.w.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, g *sim.Gate) error {
		defer c.unsubscribe(in)
		w.client = client{c.api.Door(g)}
		return w.run(ctx, g, in, sync)
	}})
}

func (w *workload) run(ctx context.Context, g *sim.Gate, in *inbox, sync func(*workload, context.Context) error) error {
	for {
		if w.object() == nil {
			return w.deletePods(ctx)
		}
		if err := sync(w, ctx); err != nil {
			if !sleep(ctx, w.c.cfg.Timers.APIRetry) {
				return ctx.Err()
			}
			continue
		}
		if _, err := in.next(ctx, g); err != nil {
			return err
		}
	}
}

func concerns(ch kube.Change, uid string, nodes bool) bool {
	for _, o := range []runtime.Object{ch.Object, ch.Old} {
		if p, ok := o.(*corev1.Pod); ok && owner(p) == uid {
			return true
		}
	}
	return nodes && ch.Resource == "nodes"
}

// mine are the stored pods of this workload, by name.
func (w *workload) mine() []*corev1.Pod {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	uid := string(meta(w.object()).GetUID())
	var out []*corev1.Pod
	for _, key := range sortedPods(w.c.pods) {
		if p := w.c.pods[key].Pod; owner(p) == uid {
			out = append(out, p)
		}
	}
	return out
}

// create makes a pod from the template, as the real controllers name and own it.
func (w *workload) create(ctx context.Context, t *corev1.PodTemplateSpec, name, node string, labels map[string]string) error {
	m := meta(w.object())
	yes := true
	p := corev1.Pod{ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: *t.Spec.DeepCopy()}
	p.APIVersion, p.Kind, p.Name, p.Namespace = "v1", "Pod", name, m.GetNamespace()
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: w.kind, Name: m.GetName(), UID: m.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	if w.kind == "Job" {
		p.OwnerReferences[0].APIVersion = "batch/v1"
	}
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	for k, v := range labels {
		p.Labels[k] = v
	}
	if node != "" {
		p.Spec.NodeName = node
	}
	body, err := kube.Protobuf(&p)
	if err != nil {
		return err
	}
	w.made++
	_, err = w.client.do(ctx, http.MethodPost, builtin["Pod"].path(p.Namespace, ""), runtime.ContentTypeProtobuf, body)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (w *workload) deletePod(ctx context.Context, p *corev1.Pod) error {
	err := w.client.delete(ctx, builtin["Pod"].path(p.Namespace, p.Name), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &p.UID},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// deletePods is what the garbage collector does once the owner is gone.
func (w *workload) deletePods(ctx context.Context) error {
	for _, p := range w.orphans() {
		for w.deletePod(ctx, p) != nil {
			if !sleep(ctx, w.c.cfg.Timers.APIRetry) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// orphans are the pods whose owner of this kind is no longer stored.
func (w *workload) orphans() []*corev1.Pod {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	var out []*corev1.Pod
	for _, key := range sortedPods(w.c.pods) {
		p := w.c.pods[key].Pod
		for _, o := range p.OwnerReferences {
			if o.Kind == w.kind && p.DeletionTimestamp == nil && !w.c.ownerStored(o, p.Namespace) {
				out = append(out, p)
			}
		}
	}
	return out
}

func (c *Cluster) ownerChanged(ch kube.Change) {
	kind, ok := workloadKinds[ch.Resource]
	if !ok {
		return
	}
	key := model.PodRef{Namespace: ch.Namespace, Name: kind + "/" + ch.Name}
	if ch.Object == nil {
		delete(c.owners, key)
		return
	}
	c.owners[key] = string(meta(ch.Object).GetUID())
}

func (c *Cluster) ownerStored(o metav1.OwnerReference, namespace string) bool {
	return c.owners[model.PodRef{Namespace: namespace, Name: o.Kind + "/" + o.Name}] == string(o.UID)
}

// active pods count towards the wanted number; those on their way out do not.
func active(ps []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(ps), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil || finished(p) })
}

func podReady(p *corev1.Pod) bool {
	for _, cond := range p.Status.Conditions {
		if cond.Type == corev1.PodReady {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}

// suffix is the five characters that the real controllers draw at random, here
// a function of what it is for.
func suffix(parts ...any) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789" // k8s.io/apimachinery/pkg/util/rand
	h := fnv.New64a()
	fmt.Fprint(h, parts...)
	n := h.Sum64()
	out := make([]byte, 5)
	for i := range out {
		out[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return string(out)
}

// runFor is how long a pod's containers work before they end by themselves; 0
// means for ever. Jobs' pods work for 5 s unless they say otherwise.
func runFor(p *corev1.Pod) time.Duration {
	if d, err := time.ParseDuration(p.Annotations["ipamsim.dev/run-for"]); err == nil {
		return d
	}
	for _, o := range p.OwnerReferences {
		if o.Kind == "Job" {
			return 5 * time.Second
		}
	}
	return 0
}

func meta(o runtime.Object) metav1.Object {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return o
	case *appsv1.Deployment:
		return o
	case *appsv1.DaemonSet:
		return o
	case *batchv1.Job:
		return o
	}
	return &metav1.ObjectMeta{}
}
