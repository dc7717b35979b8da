package cluster

import (
	"context"
	"fmt"
	"strings"

	"ipamsim/sim/cluster/kubeapi"
)

// Scale sets the number of replicas of a workload.
type Scale struct {
	Kind      string `json:"kind" jsonschema:"required,enum=StatefulSet,enum=Deployment"`
	Namespace string `json:"namespace,omitempty"` // default: default
	Name      string `json:"name" jsonschema:"required"`
	Replicas  int    `json:"replicas"`
}

// Do runs kubectl scale.
func (a *Scale) Do(ctx context.Context, o *Operator) error {
	r, ok := o.c.kinds[a.Kind]
	if !ok {
		return fmt.Errorf("the server doesn't have a resource type %q", a.Kind)
	}
	return o.client.Patch(ctx, r.Path(orDefault(a.Namespace), a.Name), kubeapi.MergePatch,
		map[string]any{"spec": map[string]any{"replicas": a.Replicas}})
}

func (a *Scale) String() string {
	return fmt.Sprintf("kubectl scale %s %s --replicas=%d", strings.ToLower(a.Kind), a.Name, a.Replicas)
}
