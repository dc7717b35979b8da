package cluster

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Delete removes one object, or all of a resource in a namespace.
type Delete struct {
	Resource  string `json:"resource" jsonschema:"required"` // plural: pods, ippools.whereabouts.cni.cncf.io
	Namespace string `json:"namespace,omitempty"`            // default: default
	Name      string `json:"name,omitempty"`
	All       bool   `json:"all,omitempty"`
	Force     bool   `json:"force,omitempty"` // --grace-period=0 --force
}

// Do runs kubectl delete.
func (a *Delete) Do(ctx context.Context, o *Operator) error {
	r, kind, err := kubeapi.ByName(o.c.kinds, a.Resource)
	if err != nil {
		return err
	}
	keeper := o.c.keeps(kind)
	names := []string{a.Name}
	switch {
	case a.All && keeper != nil:
		names, err = keeper.Names(ctx, o.gate, kind)
	case a.All:
		names, err = o.names(ctx, r.Path(orDefault(a.Namespace), ""))
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range names {
		if keeper != nil {
			errs = append(errs, keeper.Change(ctx, o.gate, ipam.Delete, Object{Kind: kind, Name: n}))
		} else {
			how := kubeapi.Deletion(a.Force)
			how.PropagationPolicy = new(metav1.DeletePropagationBackground) // as kubectl asks; a Job's pods would stay by the API's default
			errs = append(errs, o.client.Delete(ctx, r.Path(orDefault(a.Namespace), n), how))
		}
	}
	return errors.Join(errs...)
}

func (a *Delete) String() string {
	s := "kubectl delete " + a.Resource + " "
	if a.All {
		s += "--all"
	}
	s += a.Name
	if a.Force {
		s += " --grace-period=0 --force"
	}
	return s
}

func (o *Operator) names(ctx context.Context, path string) ([]string, error) {
	b, err := o.client.Do(ctx, "GET", path, "application/json", nil)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
		}
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	var out []string
	for _, i := range list.Items {
		out = append(out, i.Metadata.Name)
	}
	return out, nil
}
