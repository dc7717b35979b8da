package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	return o.client.patch(ctx, r.path(orDefault(a.Namespace), a.Name), mergePatch,
		map[string]any{"spec": map[string]any{"replicas": a.Replicas}})
}

func (a *Scale) String() string {
	return fmt.Sprintf("kubectl scale %s %s --replicas=%d", strings.ToLower(a.Kind), a.Name, a.Replicas)
}

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
	r, err := o.c.byName(a.Resource)
	if err != nil {
		return err
	}
	names := []string{a.Name}
	if a.All {
		if names, err = o.names(ctx, r.path(orDefault(a.Namespace), "")); err != nil {
			return err
		}
	}
	var errs []error
	for _, n := range names {
		opts := metav1.DeleteOptions{}
		if a.Force {
			now := int64(0)
			opts.GracePeriodSeconds = &now
		}
		errs = append(errs, o.client.delete(ctx, r.path(orDefault(a.Namespace), n), opts))
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
	b, err := o.client.do(ctx, "GET", path, "application/json", nil)
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

// Patch edits an object: kubectl edit, or kubectl patch.
type Patch struct {
	Resource    string `json:"resource" jsonschema:"required"`
	Namespace   string `json:"namespace,omitempty"` // default: default
	Name        string `json:"name" jsonschema:"required"`
	Subresource string `json:"subresource,omitempty"`
	// JSON is a list of JSON-patch operations, Merge a merge patch; one of them.
	JSON  []map[string]any `json:"json,omitempty"`
	Merge map[string]any   `json:"merge,omitempty"`
}

// Do runs kubectl patch.
func (a *Patch) Do(ctx context.Context, o *Operator) error {
	r, err := o.c.byName(a.Resource)
	if err != nil {
		return err
	}
	path := r.path(orDefault(a.Namespace), a.Name)
	if a.Subresource != "" {
		path += "/" + a.Subresource
	}
	if a.JSON != nil {
		return o.client.patch(ctx, path, jsonPatch, a.JSON)
	}
	return o.client.patch(ctx, path, mergePatch, a.Merge)
}

func (a *Patch) String() string {
	var p any = a.Merge
	if a.JSON != nil {
		p = a.JSON
	}
	b, _ := json.Marshal(p) // decoded from YAML, so it encodes
	return fmt.Sprintf("kubectl edit %s %s: %s", a.Resource, a.Name, b)
}

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
	r, ok := o.c.kinds[m.Kind]
	if !ok {
		return fmt.Errorf("the server doesn't have a resource type %q", m.Kind)
	}
	err := o.client.create(ctx, r, orDefault(m.Namespace), a.Object)
	if apierrors.IsAlreadyExists(err) {
		return o.client.patch(ctx, r.path(orDefault(m.Namespace), m.Name), mergePatch, a.Object)
	}
	return err
}

func (a *Apply) String() string {
	m := metav1.PartialObjectMetadata{}
	_ = json.Unmarshal(a.Object, &m) // checked when the scenario was loaded
	return fmt.Sprintf("kubectl apply %s %s", strings.ToLower(m.Kind), m.Name)
}

func (cl client) deletePod(ctx context.Context, namespace, name string, force bool, uid *types.UID) error {
	o := metav1.DeleteOptions{}
	if force {
		now := int64(0)
		o.GracePeriodSeconds = &now
	}
	if uid != nil {
		o.Preconditions = &metav1.Preconditions{UID: uid}
	}
	return cl.delete(ctx, builtin["Pod"].path(namespace, name), o)
}

func orDefault(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}
