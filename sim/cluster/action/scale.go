package action

import (
	"context"
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/sim/cluster"
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
func (a *Scale) Do(ctx context.Context, o *cluster.Operator) error {
	r, ok := o.Cluster.Kinds[a.Kind]
	if !ok {
		return fmt.Errorf("the server doesn't have a resource type %q", a.Kind)
	}
	return o.Client.Patch(ctx, r.Path(orDefault(a.Namespace), a.Name), kubeapi.MergePatch,
		map[string]any{"spec": map[string]any{"replicas": a.Replicas}})
}

func (a *Scale) String() string {
	return fmt.Sprintf("kubectl scale %s %s --replicas=%d", strings.ToLower(a.Kind), a.Name, a.Replicas)
}

var scale = define(Kind{
	Name: "scale", Class: model.Ordinary,
	Doc: "kubectl scale of a Deployment or a StatefulSet.",
}, func(c Checker, a *Scale) {
	c.Workload(a.Kind, orDefault(a.Namespace), a.Name, "name")
	c.Bad(a.Replicas < 0, Part{"replicas"}, "must not be negative")
})
