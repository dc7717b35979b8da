package action

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Apply creates an object, or replaces one that exists.
type Apply struct {
	Object         json.RawMessage `json:"object" jsonschema:"required"`
	ServerSide     bool            `json:"serverSide,omitempty"`     // kubectl apply --server-side: what is another's is a conflict
	ForceConflicts bool            `json:"forceConflicts,omitempty"` // --force-conflicts: it is taken over
}

// Do runs kubectl apply.
func (a *Apply) Do(ctx context.Context, o *cluster.Operator) error {
	m := metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(a.Object, &m); err != nil {
		return err
	}
	kind := kubeapi.KindOf(o.Cluster.Kinds, m.Kind, m.APIVersion)
	r, ok := o.Cluster.Kinds[kind]
	if !ok {
		return fmt.Errorf("the server doesn't have a resource type %q", m.Kind)
	}
	if k := o.Cluster.Keeps(kind); k != nil {
		return k.Change(ctx, o.Gate, ipam.Apply, cluster.Object{Kind: kind, Name: m.Name, Body: a.Object})
	}
	if a.ServerSide {
		path := r.Path(orDefault(m.Namespace), m.Name)
		return o.Client.Patch(ctx, fmt.Sprintf("%s?fieldManager=kubectl&force=%t", path, a.ForceConflicts), kubeapi.ApplyPatch, a.Object)
	}
	err := o.Client.Create(ctx, r, orDefault(m.Namespace), a.Object)
	if apierrors.IsAlreadyExists(err) {
		return o.Client.Patch(ctx, r.Path(orDefault(m.Namespace), m.Name), kubeapi.MergePatch, a.Object)
	}
	return err
}

func (a *Apply) String() string {
	m := metav1.PartialObjectMetadata{}
	_ = json.Unmarshal(a.Object, &m) // checked when the scenario was loaded
	how := ""
	if a.ServerSide {
		how = " --server-side"
	}
	if a.ForceConflicts {
		how += " --force-conflicts"
	}
	return fmt.Sprintf("kubectl apply%s %s %s", how, strings.ToLower(m.Kind), m.Name)
}

// Kind is the kind of the applied object.
func (a *Apply) Kind() string {
	var m metav1.TypeMeta
	_ = json.Unmarshal(a.Object, &m) // Do reports the error
	return m.Kind
}

var apply = described(define(Kind{
	Name: "apply", Class: model.OperatorAction,
	Doc: "kubectl apply: an object is created or replaced. Ordinary for pods, their controllers and Services.",
}, func(c Checker, a *Apply) {
	c.Bad(a.ForceConflicts && !a.ServerSide, Part{"forceConflicts"}, "only with serverSide: true")
}), func(a *Apply, ref *model.ActionRef) {
	if ref.Object = a.Kind(); model.Everyday(ref.Object) {
		ref.Class = model.Ordinary
	}
})
