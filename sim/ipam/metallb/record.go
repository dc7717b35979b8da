package metallb

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// What the record is made of.
const (
	namespacesResource  = "namespaces"
	poolsResource       = "ipaddresspools"
	communitiesResource = "communities"
	statesResource      = "configurationstates"
	poolKind            = "IPAddressPool"
	communityKind       = "Community"
	stateKind           = "ConfigurationState"
	// The one of the controller.
	stateName = "controller"
)

// record contains the stored objects and is updated by their changes.
type record struct {
	networks    []model.Network
	controllers atomic.Int32 // that run

	mu          sync.Mutex
	services    map[string]*service // by NAMESPACE/NAME
	pools       map[string]metallbv1beta1.IPAddressPool
	communities map[string]metallbv1beta1.Community
	namespaces  map[string]corev1.Namespace
	says        metallbv1beta1.ConfigurationStateStatus // of all this, the controller
}

// service is one that is stored.
type service struct {
	*corev1.Service
	// Since it was given the addresses that it has: for which families it asked, and on
	// which terms it might have shared them, those of now first.
	families []string
	terms    []model.Terms
}

func newRecord(networks []model.Network) *record {
	return &record{
		networks: networks, services: map[string]*service{}, pools: map[string]metallbv1beta1.IPAddressPool{},
		communities: map[string]metallbv1beta1.Community{}, namespaces: map[string]corev1.Namespace{},
	}
}

// follow reads the stored objects and follows their changes, without messages.
func (r *record) follow(api *kube.Server) error {
	for _, resource := range []string{namespacesResource, communitiesResource, poolsResource, statesResource, ipam.ServicesResource} {
		all, err := api.List(context.Background(), resource)
		if err != nil {
			return err
		}
		for _, o := range all {
			r.take(o)
		}
	}
	api.OnChange(func(c kube.Change) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if c.Object != nil {
			r.take(c.Object)
			return
		}
		switch c.Resource {
		case ipam.ServicesResource:
			delete(r.services, c.Namespace+"/"+c.Name)
		case namespacesResource:
			delete(r.namespaces, c.Name)
		case poolsResource:
			r.takePool(c.Namespace, c.Name, nil)
		case communitiesResource:
			r.takeCommunity(c.Namespace, c.Name, nil)
		case statesResource:
			r.takeState(c.Namespace, c.Name, nil)
		}
	})
	return nil
}

// take reads one object; the caller holds mu. What the API server has stored can be read.
func (r *record) take(o runtime.Object) {
	switch x := o.(type) {
	case *corev1.Service:
		r.takeService(x)
	case *corev1.Namespace:
		r.namespaces[x.Name] = *x
	case *unstructured.Unstructured:
		switch x.GetKind() {
		case poolKind:
			typed(x, r.takePool)
		case communityKind:
			typed(x, r.takeCommunity)
		case stateKind:
			typed(x, r.takeState)
		}
	}
}

// typed converts an object of one of MetalLB's kinds and passes it to take.
func typed[T any](x *unstructured.Unstructured, take func(in, name string, o *T)) {
	o := new(T)
	if runtime.DefaultUnstructuredConverter.FromUnstructured(x.Object, o) == nil {
		take(x.GetNamespace(), x.GetName(), o)
	}
}

// takePool stores a pool; nil deletes it.
func (r *record) takePool(in, name string, p *metallbv1beta1.IPAddressPool) {
	switch {
	case p == nil:
		delete(r.pools, in+"/"+name)
	case in == namespace:
		p.Namespace, p.Name = in, name
		r.pools[in+"/"+name] = *p
	}
}

// takeCommunity is takePool of a Community.
func (r *record) takeCommunity(in, name string, c *metallbv1beta1.Community) {
	switch {
	case c == nil:
		delete(r.communities, in+"/"+name)
	case in == namespace:
		c.Namespace, c.Name = in, name
		r.communities[in+"/"+name] = *c
	}
}

// takeState is takePool of a ConfigurationState.
func (r *record) takeState(in, name string, s *metallbv1beta1.ConfigurationState) {
	switch {
	case in != namespace || name != stateName:
	case s == nil:
		r.says = metallbv1beta1.ConfigurationStateStatus{}
	default:
		r.says = s.Status
	}
}

// takeService stores a Service.
func (r *record) takeService(x *corev1.Service) {
	name := x.Namespace + "/" + x.Name
	now := &service{Service: x, terms: []model.Terms{termsOf(x)}}
	for _, f := range x.Spec.IPFamilies {
		now.families = append(now.families, string(f))
	}
	if was := r.services[name]; was != nil && was.UID == x.UID && slices.Equal(ipam.Ingress(was.Service), ipam.Ingress(x)) {
		now.terms = append(now.terms, was.terms...)
		if len(was.families) > len(now.families) {
			now.families = was.families
		}
	}
	now.terms = slices.CompactFunc(now.terms, model.Terms.Equal)
	r.services[name] = now
}

func sorted[T any](m map[string]T) (out []T) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[name])
	}
	return out
}

// snapshot is the present record. It passes no gate. Each Service's status is a separate place for
// claims: several may have one address. Pools are policy and not part of the record.
func (r *record) snapshot() model.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	out, balancers := model.Snapshot{Networks: r.networks, Services: &model.Services{Balancing: r.controllers.Load() > 0}}, map[string]*model.Balancer{}
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		x, s := r.services[name], model.Service{Name: name}
		if served(x.Service) {
			s.Balancer = &model.Balancer{Addrs: ipam.Ingress(x.Service), Handle: name, Families: x.families, Terms: x.terms}
			balancers[name] = s.Balancer
			for _, a := range slices.SortedFunc(slices.Values(s.Balancer.Addrs), netip.Addr.Compare) {
				out.Claims = append(out.Claims, model.Claim{Pool: name, Addr: a}) // of no pod
			}
		}
		out.Services.All = append(out.Services.All, s)
	}
	out.Services.Pools, out.Services.Config = r.judge(balancers)
	return out
}
