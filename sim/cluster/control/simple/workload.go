package simple

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// kind is one kind of workload.
type kind struct {
	name, apiVersion string
	marked           string // the label that names a pod's template; "": none
	// sync brings pods in line once and returns an error if it should be called again
	// soon.
	sync func(*workload, context.Context) error
}

// workloads are the kinds by their plural names.
var workloads = map[string]kind{
	"statefulsets": {"StatefulSet", "apps/v1", appsv1.ControllerRevisionHashLabelKey, (*workload).syncStatefulSet},
	"deployments":  {"Deployment", "apps/v1", appsv1.DefaultDeploymentUniqueLabelKey, (*workload).syncDeployment},
	"daemonsets":   {"DaemonSet", "apps/v1", appsv1.ControllerRevisionHashLabelKey, (*workload).syncDaemonSet},
	"jobs":         {"Job", "batch/v1", "", (*workload).syncJob},
}

// workload is the controller of one StatefulSet, Deployment, DaemonSet or Job: a process that
// receives changes of its own object and its pods, and reconciles the pods with the object.
type workload struct {
	kind
	c      *controllers
	client kubeapi.Client
	object func() runtime.Object // the stored object; nil once deleted
	made   int                   // pods made so far

	templates []*corev1.PodTemplateSpec // that it has had, see revision
	sizes     []int                     // of a Deployment: how many pods of each there are to be
	lookAgain time.Duration             // until the next sync without a change; 0: none

	// Of a Job only.
	succeeded map[types.UID]bool // pods that have, whether they are still stored or not
	failed    map[types.UID]bool // those that have not, or were deleted before their end
	failedAt  time.Duration      // when the last one did
	given     bool               // up
}

func (c *controllers) startWorkload(ch kube.Change, k kind) {
	uid := meta(ch.Object).GetUID()
	current := ch.Object
	in := c.Feed.Subscribe(func(x kube.Change) bool {
		if x.Resource == ch.Resource && x.Namespace == ch.Namespace && x.Name == ch.Name {
			current = x.Object
			return true
		}
		return concerns(x, string(uid), ch.Resource == "daemonsets")
	})
	w := &workload{kind: k, c: c, object: func() runtime.Object { return current }, succeeded: map[types.UID]bool{}, failed: map[types.UID]bool{}}
	id := c.Name(fmt.Sprintf("%s/%s/%s", ch.Resource[:len(ch.Resource)-1], ch.Namespace, ch.Name))
	c.World.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, g *sim.Gate) error {
		defer c.Feed.Unsubscribe(in)
		w.client = kubeapi.New(c.API.Transport(g))
		return w.run(ctx, g, in)
	}})
}

func (w *workload) run(ctx context.Context, g *sim.Gate, in *kubeapi.Informer) error {
	for {
		if w.object() == nil {
			return w.deletePods(ctx)
		}
		w.lookAgain = 0
		if err := w.sync(w, ctx); err != nil {
			if !kubeapi.Sleep(ctx, w.c.Timers.APIRetry) {
				return ctx.Err()
			}
			continue
		}
		if err := w.wait(ctx, g, in); err != nil {
			return err
		}
	}
}

// wait waits for a change or the next sync.
func (w *workload) wait(ctx context.Context, g *sim.Gate, in *kubeapi.Informer) error {
	var up <-chan time.Time
	if w.lookAgain > 0 {
		t := time.NewTimer(w.lookAgain)
		defer t.Stop()
		up = t.C
	}
	_, err := in.NextWithin(ctx, g, up)
	return err
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
	uid := string(meta(w.object()).GetUID())
	return w.c.Stored.Pods(func(p *corev1.Pod) bool { return owner(p) == uid })
}

// create creates a pod from the template, with name and owner as the real controllers set them.
func (w *workload) create(ctx context.Context, t *corev1.PodTemplateSpec, name, node string, labels map[string]string) error {
	m := meta(w.object())
	yes := true
	p := corev1.Pod{ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: *t.Spec.DeepCopy()}
	p.APIVersion, p.Kind, p.Name, p.Namespace = "v1", "Pod", name, m.GetNamespace()
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: w.apiVersion, Kind: w.name, Name: m.GetName(), UID: m.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes,
	}}
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
	_, err = w.client.Do(ctx, http.MethodPost, kubeapi.Pods.Path(p.Namespace, ""), runtime.ContentTypeProtobuf, body)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (w *workload) deletePod(ctx context.Context, p *corev1.Pod) error {
	err := w.client.Delete(ctx, kubeapi.Pods.Path(p.Namespace, p.Name), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &p.UID},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// deletePods does the work of the garbage collector after the owner is gone.
func (w *workload) deletePods(ctx context.Context) error {
	for _, p := range w.orphans() {
		for w.deletePod(ctx, p) != nil {
			if !kubeapi.Sleep(ctx, w.c.Timers.APIRetry) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// orphans are the pods whose owner of this kind is no longer stored.
func (w *workload) orphans() []*corev1.Pod {
	return w.c.Stored.Pods(func(p *corev1.Pod) bool {
		return p.DeletionTimestamp == nil && slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool {
			return o.Kind == w.name && !w.c.ownerStored(o, p.Namespace)
		})
	})
}

// active pods count towards the wanted number; those on their way out do not.
func active(ps []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(ps), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil || kubeapi.Finished(p) })
}

func podReady(p *corev1.Pod) bool {
	for _, cond := range p.Status.Conditions {
		if cond.Type == corev1.PodReady {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}

// suffix is the five characters that the real controllers draw at random, here a function of parts.
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
