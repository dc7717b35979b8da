package objects

import (
	"context"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/kube"
)

// viaClient reports whether a change of a custom resource is a change of a projectcalico.org/v3
// object, which goes through Calico's API server.
func viaClient(v ipam.Verb, o ipam.Object) bool {
	if v != ipam.Create && v != ipam.Apply {
		return false
	}
	m := metav1.TypeMeta{}
	return json.Unmarshal(o.Body, &m) == nil && m.APIVersion == apiv3.GroupVersionCurrent
}

// ChangeResource changes a custom resource as kubectl does.
func (kp Keeper) ChangeResource(ctx context.Context, g *sim.Gate, v ipam.Verb, o ipam.Object) error {
	d, err := dynamic.NewForConfig(kube.Config(kp.env.API.Transport(g)))
	if err != nil {
		return err
	}
	r := d.Resource(schema.GroupVersionResource{Group: record.CrdGroup, Version: "v1", Resource: strings.ToLower(o.Kind) + "s"})
	patch := func(t types.PatchType) error {
		_, err := r.Patch(ctx, o.Name, t, o.Body, metav1.PatchOptions{})
		return err
	}
	switch v {
	case ipam.Delete:
		return r.Delete(ctx, o.Name, metav1.DeleteOptions{})
	case ipam.Merge:
		return patch(types.MergePatchType)
	case ipam.JSON:
		return patch(types.JSONPatchType)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(o.Body, &u.Object); err != nil {
		return err
	}
	_, err = r.Create(ctx, u, metav1.CreateOptions{})
	if v == ipam.Apply && apierrors.IsAlreadyExists(err) {
		return patch(types.MergePatchType)
	}
	return err
}
