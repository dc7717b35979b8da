package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Apply creates an object, or replaces one that exists.
type Apply struct {
	Object json.RawMessage `json:"object" jsonschema:"required"`
}

// Do runs kubectl apply.
func (a *Apply) Do(ctx context.Context, o *Operator) error {
	m := metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(a.Object, &m); err != nil {
		return err
	}
	kind := kubeapi.KindOf(o.c.kinds, m.Kind, m.APIVersion)
	r, ok := o.c.kinds[kind]
	if !ok {
		return fmt.Errorf("the server doesn't have a resource type %q", m.Kind)
	}
	if k := o.c.keeps(kind); k != nil {
		return k.Change(ctx, o.gate, ipam.Apply, Object{Kind: kind, Name: m.Name, Body: a.Object})
	}
	err := o.client.Create(ctx, r, orDefault(m.Namespace), a.Object)
	if apierrors.IsAlreadyExists(err) {
		return o.client.Patch(ctx, r.Path(orDefault(m.Namespace), m.Name), kubeapi.MergePatch, a.Object)
	}
	return err
}

func (a *Apply) String() string {
	m := metav1.PartialObjectMetadata{}
	_ = json.Unmarshal(a.Object, &m) // checked when the scenario was loaded
	return fmt.Sprintf("kubectl apply %s %s", strings.ToLower(m.Kind), m.Name)
}
