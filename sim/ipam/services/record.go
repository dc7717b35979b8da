package services

import (
	"cmp"
	"context"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"

	api "k8s.io/kubernetes/pkg/apis/core"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// The resources of the record.
const (
	servicesResource  = "services"
	addressesResource = "ipaddresses"
	rangesResource    = "servicecidrs"
)

// record contains the stored objects and is updated by their changes.
type record struct {
	env   ipam.Env
	began time.Time

	mu        sync.Mutex
	services  map[string]model.Service
	claims    map[string]model.ServiceClaim // by name of the IPAddress
	freed     map[netip.Addr]time.Time      // when an IPAddress was last deleted
	ranges    map[string][]netip.Prefix     // by name of the ServiceCIDR
	refusals  []model.Refusal
	underWay  map[*asked]bool
	portsFrom []byte // what ports was read from
	ports     []int
	portsAll  int // that there are
}

func newRecord(env ipam.Env) *record {
	return &record{
		env: env, began: time.Now(), services: map[string]model.Service{}, claims: map[string]model.ServiceClaim{},
		ranges: map[string][]netip.Prefix{}, freed: map[netip.Addr]time.Time{}, underWay: map[*asked]bool{},
	}
}

// follow subscribes to what changes. Nothing is stored yet.
func (r *record) follow(server *kube.Server) error {
	for _, resource := range []string{servicesResource, addressesResource, rangesResource} {
		all, err := server.List(context.Background(), resource)
		if err != nil {
			return err
		}
		for _, o := range all {
			r.take(resource, o)
		}
	}
	server.OnChange(r.changed)
	return nil
}

func (r *record) changed(c kube.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := c.Name
	switch c.Resource {
	case servicesResource:
		delete(r.services, c.Namespace+"/"+name)
	case addressesResource:
		if c, ok := r.claims[name]; ok {
			r.freed[c.Addr] = time.Now()
		}
		delete(r.claims, name)
	case rangesResource:
		delete(r.ranges, name)
	}
	r.take(c.Resource, c.Object)
}

// take reads one object. The caller holds mu.
func (r *record) take(_ string, o runtime.Object) {
	switch x := o.(type) {
	case *corev1.Service:
		r.services[x.Namespace+"/"+x.Name] = serviceOf(x)
	case *networkingv1.IPAddress:
		if c, ok := claimOf(x); ok {
			r.claims[x.Name] = c
		}
	case *networkingv1.ServiceCIDR:
		for _, text := range x.Spec.CIDRs {
			if p, err := netip.ParsePrefix(text); err == nil {
				r.ranges[x.Name] = append(r.ranges[x.Name], p)
			}
		}
	}
}

// serviceOf reads a Service's addresses and node ports. Values that cannot be parsed are ignored.
func serviceOf(x *corev1.Service) model.Service {
	s := model.Service{Name: x.Namespace + "/" + x.Name}
	for _, text := range x.Spec.ClusterIPs {
		if a, err := netip.ParseAddr(text); err == nil {
			s.Addrs = append(s.Addrs, a)
		}
		s.Headless = s.Headless || text == corev1.ClusterIPNone
	}
	for _, f := range x.Spec.IPFamilies {
		s.Families = append(s.Families, string(f))
	}
	port := func(n int32, protocol corev1.Protocol) {
		if p := (model.NodePort{Port: int(n), Protocol: string(protocol)}); n != 0 && !slices.Contains(s.Ports, p) {
			s.Ports = append(s.Ports, p)
		}
	}
	for _, p := range x.Spec.Ports {
		port(p.NodePort, p.Protocol)
	}
	port(x.Spec.HealthCheckNodePort, corev1.ProtocolTCP)
	s.Unported = unported(&x.Spec)
	return s
}

// unported is model.Service.Unported. A port of a NodePort Service needs a node port, a port of a
// LoadBalancer Service too unless allocateLoadBalancerNodePorts is false, and so does the health
// check of a Service with externalTrafficPolicy Local.
//
// Source: the API reference of Service, and pkg/registry/core/service/strategy.go,
// needsHCNodePort (v1.37.2).
func unported(s *corev1.ServiceSpec) (n int) {
	balanced := s.Type == corev1.ServiceTypeLoadBalancer
	if s.Type == corev1.ServiceTypeNodePort || balanced && (s.AllocateLoadBalancerNodePorts == nil || *s.AllocateLoadBalancerNodePorts) {
		for _, p := range s.Ports {
			if p.NodePort == 0 {
				n++
			}
		}
	}
	if balanced && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && s.HealthCheckNodePort == 0 {
		n++
	}
	return n
}

func claimOf(x *networkingv1.IPAddress) (c model.ServiceClaim, ok bool) {
	a, err := netip.ParseAddr(x.Name)
	c.Addr, c.Managed = a, x.Labels[networkingv1.LabelManagedBy] == ipallocator.ControllerName
	if p := x.Spec.ParentRef; p != nil && p.Group == "" && p.Resource == servicesResource {
		c.Service = p.Namespace + "/" + p.Name
	}
	return c, err == nil
}

// snapshot is the record now. It passes no gate.
func (r *record) snapshot() (model.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.readPorts(); err != nil {
		return model.Snapshot{}, err
	}
	return r.stored(), nil
}

// stored is the present record. The caller holds mu.
func (r *record) stored() model.Snapshot {
	s := &model.Services{Refusals: slices.Clone(r.refusals), Ports: r.ports, HasPorts: r.portsFrom != nil}
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		s.All = append(s.All, r.services[name])
	}
	s.Claims = slices.SortedFunc(maps.Values(r.claims), func(a, b model.ServiceClaim) int { return a.Addr.Compare(b.Addr) })
	for _, all := range r.ranges {
		s.Ranges = append(s.Ranges, all...)
	}
	slices.SortFunc(s.Ranges, netip.Prefix.Compare)
	s.Ranges = slices.Compact(s.Ranges)
	r.count(s)
	out := model.Snapshot{Networks: r.env.Networks, Services: s}
	for _, p := range s.Ranges {
		out.Pools = append(out.Pools, model.Pool{Name: p.String(), Range: p})
	}
	for _, c := range s.Claims { // of no pod
		out.Claims = append(out.Claims, model.Claim{Pool: poolOf(s.Ranges, c.Addr), Addr: c.Addr})
	}
	slices.SortStableFunc(out.Claims, func(a, b model.Claim) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Addr.Compare(b.Addr)) })
	return out
}

func poolOf(ranges []netip.Prefix, a netip.Addr) string {
	if i := slices.IndexFunc(ranges, func(p netip.Prefix) bool { return p.Contains(a) }); i >= 0 {
		return ranges[i].String()
	}
	return ""
}

// readPorts reads the bitmap, if it is another one than the last time.
func (r *record) readPorts() (err error) {
	var now []byte
	r.env.Store.Scan("/registry"+portsKey, func(_ string, value []byte, _ int64) { now = value })
	if string(now) == string(r.portsFrom) {
		return nil
	}
	r.ports, r.portsFrom = nil, now
	if now == nil {
		return nil
	}
	o, _, err := legacyscheme.Codecs.UniversalDecoder().Decode(now, nil, &api.RangeAllocation{})
	if err != nil {
		return err
	}
	// Parsed without the allocator, which is under test.
	stored := o.(*api.RangeAllocation)
	of, err := utilnet.ParsePortRange(stored.Range)
	if err != nil {
		return err
	}
	r.portsAll = of.Size
	marked := new(big.Int).SetBytes(stored.Data)
	for n := range of.Size {
		if marked.Bit(n) == 1 {
			r.ports = append(r.ports, of.Base+n)
		}
	}
	return nil
}
