package action

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Apply creates an object, or replaces one that exists.
type Apply struct {
	Object json.RawMessage `json:"object" jsonschema:"required"`
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
	err := o.Client.Create(ctx, r, orDefault(m.Namespace), a.Object)
	if apierrors.IsAlreadyExists(err) {
		return o.Client.Patch(ctx, r.Path(orDefault(m.Namespace), m.Name), kubeapi.MergePatch, a.Object)
	}
	return err
}

func (a *Apply) String() string {
	m := metav1.PartialObjectMetadata{}
	_ = json.Unmarshal(a.Object, &m) // checked when the scenario was loaded
	return fmt.Sprintf("kubectl apply %s %s", strings.ToLower(m.Kind), m.Name)
}

// Kind of what is applied.
func (a *Apply) Kind() string {
	var m metav1.TypeMeta
	_ = json.Unmarshal(a.Object, &m) // Do says what is wrong with it
	return m.Kind
}

// Deed names the kind that is applied. See cluster.Deed.
func (a *Apply) Deed() string { return "apply " + a.Kind() }
