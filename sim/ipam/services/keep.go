package services

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/dynamic"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	services "k8s.io/kubernetes/pkg/registry/core/service/storage"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// kinds are the kinds that the API servers store here.
var kinds = map[string]struct {
	schema.GroupVersionResource
	namespaced bool
}{
	"Service":     {corev1.SchemeGroupVersion.WithResource(servicesResource), true},
	"IPAddress":   {networking.WithResource(addressesResource), false},
	"ServiceCIDR": {networking.WithResource(rangesResource), false},
}

var networking = schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"}

func keeps(kind string) bool { _, ok := kinds[kind]; return ok }

// raw is where objects are stored as they are: a Service with the addresses and node ports
// that it says it has, without IPAddresses.
func (i *instance) raw() *kube.Peer {
	p := i.env.API.Peer(context.Background(), nil)
	for _, plural := range []string{addressesResource, rangesResource} {
		p.Serve(plural, kube.Builtin(plural))
	}
	p.Serve(servicesResource, kube.Resource{Version: corev1.SchemeGroupVersion, Open: func(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
		none := map[api.IPFamily]ipallocator.Interface{api.IPv4Protocol: nil, api.IPv6Protocol: nil}
		r, _, _, err := services.NewREST(o, api.IPv4Protocol, none, nil, kube.NoEndpoints{}, nil, nil)
		if err != nil {
			return nil, err
		}
		r.BeginCreate, r.BeginUpdate, r.AfterDelete = nil, nil, nil
		return map[string]rest.Storage{servicesResource: r}, nil
	}})
	return p
}

// change makes an operator's change through an API server; without a gate it stores an initial
// object.
func (i *instance) change(ctx context.Context, g *sim.Gate, v ipam.Verb, o ipam.Object) error {
	if o.Namespace == "" && kinds[o.Kind].namespaced {
		var m metav1.PartialObjectMetadata
		_ = json.Unmarshal(o.Body, &m) // a patch and a deletion have no namespace
		o.Namespace = cmp.Or(m.Namespace, metav1.NamespaceDefault)
	}
	var way http.RoundTripper = i.found
	if g != nil {
		way = i.env.API.Wire(g, i.pick(g, ""))
	}
	return i.kubectl(ctx, way, v, o)
}

// kubectl sends what an operator asked for, as kubectl does: once.
func (i *instance) kubectl(ctx context.Context, way http.RoundTripper, v ipam.Verb, o ipam.Object) (err error) {
	c, err := client(way, o)
	if err != nil {
		return err
	}
	if o.Kind == "Service" {
		end := i.record.ask(o.Namespace+"/"+o.Name, o.Body)
		defer func() { end(err) }()
	}
	switch v {
	case ipam.Create, ipam.Apply:
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(o.Body, &u.Object); err != nil {
			return err
		}
		_, err = c.Create(ctx, u, metav1.CreateOptions{})
		if v == ipam.Apply && apierrors.IsAlreadyExists(err) {
			_, err = c.Patch(ctx, o.Name, types.MergePatchType, o.Body, metav1.PatchOptions{})
		}
	case ipam.Merge:
		_, err = c.Patch(ctx, o.Name, types.MergePatchType, o.Body, metav1.PatchOptions{})
	case ipam.JSON:
		_, err = c.Patch(ctx, o.Name, types.JSONPatchType, o.Body, metav1.PatchOptions{})
	case ipam.Delete:
		err = c.Delete(ctx, o.Name, metav1.DeleteOptions{})
	}
	return err
}

// client is for objects of one kind, and one namespace.
func client(way http.RoundTripper, o ipam.Object) (dynamic.ResourceInterface, error) {
	d, err := dynamic.NewForConfig(kube.Config(way))
	if err != nil {
		return nil, err
	}
	k := kinds[o.Kind]
	if !k.namespaced {
		return d.Resource(k.GroupVersionResource), nil
	}
	return d.Resource(k.GroupVersionResource).Namespace(o.Namespace), nil
}

// list lists the objects of a kind in all namespaces.
func list(ctx context.Context, way http.RoundTripper, kind string) ([]unstructured.Unstructured, error) {
	c, err := client(way, ipam.Object{Kind: kind})
	if err != nil {
		return nil, err
	}
	all, err := c.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return all.Items, nil
}

// names lists the objects of a kind.
func (i *instance) names(ctx context.Context, g *sim.Gate, kind string) (out []string, err error) {
	all, err := list(ctx, i.env.API.Wire(g, i.pick(g, "")), kind)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		out = append(out, o.GetName())
	}
	slices.Sort(out)
	return out, nil
}

// export is every object. It passes no gate.
func (i *instance) export(ctx context.Context) (out []ipam.Object, err error) {
	for _, kind := range []string{"ServiceCIDR", "IPAddress", "Service"} {
		all, err := list(ctx, i.found, kind)
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			body, err := o.MarshalJSON()
			if err != nil {
				return nil, err
			}
			out = append(out, ipam.Object{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), Body: body})
		}
	}
	return out, nil
}
