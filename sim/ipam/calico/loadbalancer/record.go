package loadbalancer

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	_ "unsafe" // for linkname

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/kube-controllers/pkg/controllers/loadbalancer"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
	reference "ipamsim/model/reference/calico"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

const settingsResource = "kubecontrollersconfigurations"

// record is Calico's with the Services, kept up to date by their changes.
type record struct {
	calicos     func(context.Context) (model.Snapshot, error)
	controllers atomic.Int32 // that run

	mu       sync.Mutex
	services map[string]*corev1.Service // by NAMESPACE/NAME
	assigns  apiv3.AssignIPs            // which Services are served
}

// follow reads the stored objects and follows their changes, without messages.
func follow(api *kube.Server, calicos func(context.Context) (model.Snapshot, error)) (*record, error) {
	r := &record{calicos: calicos, services: map[string]*corev1.Service{}, assigns: apiv3.AllServices}
	for _, resource := range []string{ipam.ServicesResource, settingsResource} {
		all, err := api.List(context.Background(), resource)
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			r.take(o)
		}
	}
	api.OnChange(func(c kube.Change) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if c.Resource == ipam.ServicesResource && c.Object == nil {
			delete(r.services, c.Namespace+"/"+c.Name)
		}
		r.take(c.Object)
	})
	return r, nil
}

// take reads one object; the caller holds mu. A configuration without assignIPs has upstream's
// default.
func (r *record) take(o runtime.Object) {
	switch o := o.(type) {
	case *corev1.Service:
		r.services[o.Namespace+"/"+o.Name] = o
	case *unstructured.Unstructured:
		if o.GetKind() != apiv3.KindKubeControllersConfiguration || o.GetName() != "default" {
			return
		}
		if text, _, _ := unstructured.NestedString(o.Object, "spec", "controllers", "loadBalancer", "assignIPs"); text != "" {
			r.assigns = apiv3.AssignIPs(text)
		}
	}
}

// observe is the record now. It passes no gate.
func (r *record) observe(ctx context.Context) (model.Snapshot, error) {
	s, err := r.calicos(ctx)
	if err != nil {
		return s, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Services = &model.Services{Balancing: r.controllers.Load() > 0}
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		x, out := r.services[name], model.Service{Name: name}
		if loadbalancer.IsCalicoManagedLoadBalancer(x, r.assigns) {
			if out.Balancer, err = balancerOf(x, s.Networks); err != nil {
				return model.Snapshot{}, err
			}
		}
		s.Services.All = append(s.Services.All, out)
	}
	return s, nil
}

//go:linkname createHandle github.com/projectcalico/calico/kube-controllers/pkg/controllers/loadbalancer.createHandle
func createHandle(*corev1.Service) (string, error)

// balancerOf is the request and the addresses of a Service.
func balancerOf(x *corev1.Service, networks []model.Network) (*model.Balancer, error) {
	handle, err := createHandle(x)
	if err != nil {
		return nil, err
	}
	b := &model.Balancer{Addrs: ipam.Ingress(x), Handle: handle, From: reference.ServiceAsks(x.Annotations, networks)}
	for _, f := range x.Spec.IPFamilies {
		b.Families = append(b.Families, string(f))
	}
	b.Disallowed = slices.ContainsFunc(b.Addrs, func(a netip.Addr) bool {
		of := b.From[model.FamilyOf(a)]
		return len(of) > 0 && !slices.ContainsFunc(of, func(p netip.Prefix) bool { return p.Contains(a) })
	})
	return b, nil
}
