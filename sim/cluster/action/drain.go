package action

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Drain cordons a node and evicts its pods, those of DaemonSets excepted: kubectl drain
// --ignore-daemonsets --delete-emptydir-data --force.
type Drain struct {
	Node            string          `json:"node" jsonschema:"required"`
	Timeout         metav1.Duration `json:"timeout,omitzero" unset:"it goes on until all are evicted"` // no pod is asked for again after this
	DisableEviction bool            `json:"disableEviction,omitempty"`                                 // delete pods without asking their budgets
	Force           bool            `json:"force,omitempty"`                                           // delete them so with --grace-period=0, without asking the kubelet
}

// Do runs kubectl drain. All pods are evicted at the same time, by a process each; that it looks
// once a second whether they are gone, and for the DaemonSets that pods name as their
// owners, is left out.
//
// Source: k8s.io/kubectl/pkg/drain, filterPods, evictPods and deletePods (v0.37.2).
func (a *Drain) Do(ctx context.Context, o *cluster.Operator) error {
	if err := (&Cordon{Node: a.Node}).Do(ctx, o); err != nil {
		return err
	}
	began := time.Now()
	for _, p := range o.Cluster.Cache.PodsOn(a.Node) {
		if stays(p) {
			continue
		}
		if !a.Force && !a.DisableEviction {
			a.evict(o, p, began)
		} else if err := o.Client.DeletePod(ctx, p.Namespace, p.Name, a.Force); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// stays reports whether a drain leaves a pod on its node: a pod of a DaemonSet, which would
// create another there, unless it has completed, and the mirror pod of a static pod.
//
// Source: k8s.io/kubectl/pkg/drain, daemonSetFilter and mirrorPodFilter (v0.37.2).
func stays(p *corev1.Pod) bool {
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	owner := metav1.GetControllerOf(p)
	return mirror || owner != nil && owner.Kind == "DaemonSet" && !kubeapi.Finished(p)
}

// evict evicts a pod as soon as its budgets allow it.
func (a *Drain) evict(o *cluster.Operator, p *corev1.Pod, began time.Time) {
	c := o.Cluster
	id := sim.ActorID(c.Name("operator/" + kubeapi.Ref(p).String()))
	c.World.Spawn(sim.Process{ID: id, Run: func(ctx context.Context, g *sim.Gate) error {
		err := a.insistOnEviction(ctx, c.Client(g), p, began)
		if err != nil {
			c.Checker.Record(model.Event{Kind: model.Operator, Actor: string(id), Action: Ref(a), Text: a.String(), Err: err.Error()})
		}
		return err
	}})
}

// evictAgain is how long kubectl waits after an eviction that was refused.
const evictAgain = 5 * time.Second

// insistOnEviction retries an eviction that a budget or a terminating namespace refuses, and reads
// the pod again before each retry. A terminating pod in a terminating namespace is not retried.
func (a *Drain) insistOnEviction(ctx context.Context, client kubeapi.Client, p *corev1.Pod, began time.Time) error {
	body, err := json.Marshal(policyv1.Eviction{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}, DeleteOptions: &metav1.DeleteOptions{},
	})
	if err != nil {
		return err
	}
	for {
		if d := a.Timeout.Duration; d > 0 && time.Since(began) >= d {
			return fmt.Errorf("error when evicting pods/%q -n %q: global timeout reached: %v", p.Name, p.Namespace, d)
		}
		_, err := client.Do(ctx, http.MethodPost, kubeapi.Pods.Path(p.Namespace, p.Name)+"/eviction", "application/json", body)
		terminating := apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
		switch {
		case apierrors.IsNotFound(err), terminating && p.DeletionTimestamp != nil:
			return nil
		case !apierrors.IsTooManyRequests(err) && !terminating:
			return err
		case !kubeapi.Sleep(ctx, evictAgain):
			return ctx.Err()
		}
		fresh := &corev1.Pod{}
		if b, err := client.Do(ctx, http.MethodGet, kubeapi.Pods.Path(p.Namespace, p.Name), "application/json", nil); err == nil && json.Unmarshal(b, fresh) == nil {
			p = fresh // if it cannot be read, the next eviction shows why
		}
	}
}

func (a *Drain) String() string {
	s := "kubectl drain " + a.Node
	switch {
	case a.Force:
		s += " --disable-eviction --grace-period=0"
	case a.DisableEviction:
		s += " --disable-eviction"
	}
	if a.Timeout.Duration > 0 {
		s += " --timeout=" + a.Timeout.Duration.String()
	}
	return s
}

// Cordon keeps new pods away from a node, or lets them come again.
type Cordon struct {
	Node string `json:"node" jsonschema:"required"`
	Undo bool   `json:"undo,omitempty"`
}

// Do runs kubectl cordon.
func (a *Cordon) Do(ctx context.Context, o *cluster.Operator) error {
	return o.Client.Patch(ctx, kubeapi.Nodes.Path("", a.Node), kubeapi.MergePatch,
		map[string]any{"spec": map[string]any{"unschedulable": !a.Undo}})
}

func (a *Cordon) String() string {
	if a.Undo {
		return "kubectl uncordon " + a.Node
	}
	return "kubectl cordon " + a.Node
}

var drain = described(define(Kind{
	Name: "drain", Class: model.Ordinary,
	Doc: "kubectl drain: a node is cordoned and its pods are evicted.",
}, func(c Checker, a *Drain) {
	c.Node(a.Node, "node")
	c.Bad(a.Timeout.Duration != 0 && (a.Force || a.DisableEviction), Part{"timeout"}, "only of evictions")
}), func(a *Drain, ref *model.ActionRef) {
	if a.Force {
		ref.Class = model.ForcedDeletion
	}
})

var cordon = define(Kind{
	Name: "cordon", Class: model.Ordinary,
	Doc: "kubectl cordon or uncordon.",
}, func(c Checker, a *Cordon) { c.Node(a.Node, "node") })
