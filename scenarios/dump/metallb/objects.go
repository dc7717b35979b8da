package metallb

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	reference "ipamsim/model/reference/metallb"
	"ipamsim/scenarios/dump/kept"
)

// poolSpec is what is kept of an IPAddressPool.
type poolSpec struct {
	Addresses     []string    `json:"addresses"`
	AutoAssign    *bool       `json:"autoAssign,omitempty"`
	AvoidBuggyIPs bool        `json:"avoidBuggyIPs,omitempty"`
	Allocation    *allocation `json:"serviceAllocation,omitempty"`

	name      string
	labels    map[string]string
	announced bool // its configuration says so by itself
}

// allocation is for which Services a pool is.
type allocation struct {
	Priority           int                    `json:"priority,omitempty"`
	Namespaces         []string               `json:"namespaces,omitempty"`
	NamespaceSelectors []metav1.LabelSelector `json:"namespaceSelectors,omitempty"`
	ServiceSelectors   []metav1.LabelSelector `json:"serviceSelectors,omitempty"`
}

// advertisement is what is kept of an L2Advertisement or a BGPAdvertisement.
type advertisement struct {
	Pools         []string               `json:"ipAddressPools"`
	PoolSelectors []metav1.LabelSelector `json:"ipAddressPoolSelectors"`
	Nodes         []metav1.LabelSelector `json:"nodeSelectors"`
	Services      []metav1.LabelSelector `json:"serviceSelectors"`
	Peers         []string               `json:"peers"` // names of BGPPeers; none: all
}

// peer is what is kept of a BGPPeer: the nodes that have a session with it; no selector: all.
type peer struct {
	Nodes []metav1.LabelSelector `json:"nodeSelectors"`
}

// announcement is a ServiceL2Status: a node that announces a Service.
type announcement struct {
	Node      string `json:"node"`
	Namespace string `json:"serviceNamespace"`
	Name      string `json:"serviceName"`
}

// rangesMax bounds the elements of a pool's addresses.
const rangesMax = 10_000

func (o *objects) addPool(h *kept.Head, raw json.RawMessage) error {
	p := poolSpec{name: h.Metadata.Name, labels: o.Labels(h.Metadata.Labels)}
	if err := kept.SpecOf(raw, &p); err != nil {
		return err
	}
	if len(p.Addresses) == 0 || len(p.Addresses) > rangesMax {
		return h.Fail("spec.addresses", "%d ranges, want 1 to %d", len(p.Addresses), rangesMax)
	}
	for _, s := range p.Addresses {
		if _, err := reference.ParseRange(s); err != nil {
			return h.Fail("spec.addresses", "%s", err)
		}
	}
	if a := p.Allocation; a != nil {
		if err := legible(a.NamespaceSelectors, a.ServiceSelectors); err != nil {
			return h.Fail("spec.serviceAllocation", "%s", err)
		}
	}
	return kept.Put(o.Store, o.pools, h.Key(), h, p)
}

func (o *objects) addAdvertisement(resource string, h *kept.Head, raw json.RawMessage) error {
	var a advertisement
	if err := kept.SpecOf(raw, &a); err != nil {
		return err
	}
	if err := legible(a.PoolSelectors, a.Nodes, a.Services); err != nil {
		return h.Fail("spec", "%s", err)
	}
	return kept.Put(o.Store, o.adverts[resource], h.Key(), h, a)
}

func (o *objects) addPeer(h *kept.Head, raw json.RawMessage) error {
	var p peer
	if err := kept.SpecOf(raw, &p); err != nil {
		return err
	}
	if err := legible(p.Nodes); err != nil {
		return h.Fail("spec.nodeSelectors", "%s", err)
	}
	return kept.Put(o.Store, o.peers, h.Key(), h, p)
}

func (o *objects) addAnnouncement(h *kept.Head, raw json.RawMessage) error {
	var x struct {
		Status announcement `json:"status"`
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return err
	}
	return kept.Put(o.Store, o.announced, h.Key(), h, x.Status)
}

// legible is an error of the first selector that cannot be read.
func legible(lists ...[]metav1.LabelSelector) error {
	for _, all := range lists {
		for i := range all {
			if _, err := metav1.LabelSelectorAsSelector(&all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// service is what is kept of a Service of type LoadBalancer.
type service struct {
	Labels, Annotations map[string]string
	Spec                serviceSpec
	Addrs               []string // of its status
	Cloud               bool     // a cloud provider has put its finalizer on it
	Named               bool     // its status has host names and no addresses: a cloud's
}

type serviceSpec struct {
	Type                  string            `json:"type"`
	ClusterIP             string            `json:"clusterIP,omitempty"`
	ClusterIPs            []string          `json:"clusterIPs,omitempty"`
	IPFamilies            []string          `json:"ipFamilies,omitempty"`
	IPFamilyPolicy        string            `json:"ipFamilyPolicy,omitempty"`
	ExternalTrafficPolicy string            `json:"externalTrafficPolicy,omitempty"`
	LoadBalancerIP        string            `json:"loadBalancerIP,omitempty"`
	LoadBalancerClass     *string           `json:"loadBalancerClass,omitempty"`
	Ports                 []port            `json:"ports,omitempty"`
	Selector              map[string]string `json:"selector,omitempty"`
}

type port struct {
	Name     string `json:"name,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	Port     int32  `json:"port"`
}

// cloudFinalizer is on Services that the service controller of a cloud provider serves.
//
// Source: k8s.io/cloud-provider/service/helpers, LoadBalancerCleanupFinalizer (v0.37.2).
const cloudFinalizer = "service.kubernetes.io/load-balancer-cleanup"

// What Services say to MetalLB begins with one of these; the first counts.
//
// Source: controller/service.go, AnnotationPrefix and DeprecatedAnnotationPrefix.
var prefixes = []string{"metallb.io/", "metallb.universe.tf/"}

// The annotations, behind the prefix.
const (
	poolNote    = "address-pool"
	addrsNote   = "loadBalancerIPs"
	sharingNote = "allow-shared-ip"
)

// addController records the class of Services that a controller serves.
//
// Source: controller/main.go, flag lb-class; config/manifests and the Helm chart, labels.
func (o *objects) addController(h *kept.Head, raw json.RawMessage) error {
	l := h.Metadata.Labels
	if l["app"] != "metallb" && l["app.kubernetes.io/name"] != "metallb" || l["component"] != "controller" && l["app.kubernetes.io/component"] != "controller" {
		return nil
	}
	var x struct {
		Spec struct {
			Containers []struct{ Command, Args []string }
		}
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return err
	}
	class := ""
	for _, c := range x.Spec.Containers {
		for _, word := range slices.Concat(c.Command, c.Args) {
			if v, ok := strings.CutPrefix(strings.TrimLeft(word, "-"), "lb-class="); ok {
				class = v
			}
		}
	}
	o.classes[class] = true
	return nil
}

// serves reports whether MetalLB serves a Service, by its class: one without a class, unless its
// controllers are started with one.
//
// Source: internal/k8s/controllers, filterByLoadBalancerClass.
func (o *objects) serves(s *service) bool {
	if len(o.classes) == 0 || o.classes[""] {
		return s.Spec.LoadBalancerClass == nil
	}
	return s.Spec.LoadBalancerClass != nil && o.classes[*s.Spec.LoadBalancerClass]
}

// addService keeps a Service of type LoadBalancer.
func (o *objects) addService(h *kept.Head, raw json.RawMessage) (bool, error) {
	var x struct {
		Metadata struct{ Finalizers []string }
		Spec     serviceSpec
		Status   struct {
			LoadBalancer struct {
				Ingress []struct{ IP, Hostname string }
			}
		}
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return false, err
	}
	if x.Spec.Type != "LoadBalancer" {
		return false, nil
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	s := service{Labels: o.Labels(h.Metadata.Labels), Spec: x.Spec, Cloud: slices.Contains(x.Metadata.Finalizers, cloudFinalizer)}
	for k, v := range h.Metadata.Annotations {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(k, p) }) {
			s.Annotations = kept.Over(s.Annotations, map[string]string{k: v})
		}
	}
	for _, i := range x.Status.LoadBalancer.Ingress {
		s.Named = s.Named || i.Hostname != ""
		if i.IP == "" {
			continue
		}
		if _, err := netip.ParseAddr(i.IP); err != nil {
			return false, h.Fail("status.loadBalancer.ingress", "%q is no address", i.IP)
		}
		s.Addrs = append(s.Addrs, i.IP)
	}
	s.Named = s.Named && len(s.Addrs) == 0
	s.families()
	return true, kept.Put(o.Store, o.services, h.Key(), h, s)
}

// families completes what older clusters do not say.
func (s *service) families() {
	if len(s.Spec.ClusterIPs) == 0 && s.Spec.ClusterIP != "" {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	if len(s.Spec.IPFamilies) > 0 {
		return
	}
	for _, a := range kept.AddrsIn(s.Spec.ClusterIPs) {
		s.Spec.IPFamilies = append(s.Spec.IPFamilies, map[bool]string{true: "IPv4", false: "IPv6"}[a.Is4()])
	}
}

// note returns an annotation by its current or its former name.
func (s *service) note(key string) string {
	for _, p := range prefixes {
		if v, ok := s.Annotations[p+key]; ok {
			return v
		}
	}
	return ""
}
