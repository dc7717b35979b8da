package action

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
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
func (a *Delete) Do(ctx context.Context, o *cluster.Operator) error {
	r, kind, err := kubeapi.ByName(o.Cluster.Kinds, a.Resource)
	if err != nil {
		return err
	}
	keeper := o.Cluster.Keeps(kind)
	names := []string{a.Name}
	switch {
	case a.All && keeper != nil:
		names, err = keeper.Names(ctx, o.Gate, kind)
	case a.All:
		names, err = list(ctx, o, r.Path(orDefault(a.Namespace), ""))
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range names {
		if keeper != nil {
			errs = append(errs, keeper.Change(ctx, o.Gate, ipam.Delete, cluster.Object{Kind: kind, Name: n}))
		} else {
			how := kubeapi.Deletion(a.Force)
			how.PropagationPolicy = new(metav1.DeletePropagationBackground) // as kubectl asks; a Job's pods would stay by the API's default
			errs = append(errs, o.Client.Delete(ctx, r.Path(orDefault(a.Namespace), n), how))
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

// list are the names of the objects of a collection.
func list(ctx context.Context, o *cluster.Operator, path string) ([]string, error) {
	b, err := o.Client.Do(ctx, "GET", path, "application/json", nil)
	if err != nil {
		return nil, err
	}
	var got struct {
		Items []struct {
			Metadata struct{ Name string }
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		return nil, err
	}
	var out []string
	for _, i := range got.Items {
		out = append(out, i.Metadata.Name)
	}
	return out, nil
}

var deletion = described(define(Kind{
	Name: "delete", Class: model.OperatorAction,
	Doc: "kubectl delete, with or without --force. Ordinary for pods, their controllers and Services.",
}, func(c Checker, a *Delete) {
	c.Resource(a.Resource, "resource")
	c.Bad(a.All == (a.Name != ""), nil, "want either name or all: true")
	c.Object(a.Name, "name")
	if a.Resource == nodesResource && a.Name != "" {
		c.Node(a.Name, "name")
	}
}), func(a *Delete, ref *model.ActionRef) {
	ref.Object = a.Resource
	switch {
	case a.Force:
		ref.Verb, ref.Class = "delete --force", model.ForcedDeletion
	case model.EverydayResource(a.Resource):
		ref.Class = model.Ordinary
	}
})

// nodesResource is the resource of nodes, which only the scenario creates.
const nodesResource = "nodes"
