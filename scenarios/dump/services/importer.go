// Package services reads Services' addresses out of a dump: the Services, the IPAddresses
// that guard their cluster IPs, and the ServiceCIDRs.
package services

import (
	"encoding/json"
	"net/netip"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/kubeadm"
)

// Importer is Services'.
var Importer = &dump.Importer{
	Title: "Services", Sign: "Service with a cluster IP",
	Resources: []dump.Resource{
		kubeadm.Resource,
		{APIVersion: version, Plural: "servicecidrs", Kind: "ServiceCIDR"},
		{APIVersion: version, Plural: "ipaddresses", Kind: "IPAddress"},
		{APIVersion: "v1", Plural: "services", Kind: "Service", Namespaced: true},
		kubeadm.PodResource,
	},
	Apart: true, Judged: judged,
	Programs: kubeadm.Programs, Open: open, Objects: objectsOf, Check: check,
}

var judged = []string{
	invariant.DuplicateClusterIP.Name, invariant.DuplicateNodePort.Name, invariant.LeakedServiceClaim.Name, invariant.ServiceFamilies.Name, invariant.ServiceNodePorts.Name, invariant.UnbackedService.Name,
}

// The API group of what is not a Service.
const (
	group   = "networking.k8s.io"
	version = group + "/v1"

	servicesName  = "services"
	addressesName = "ipaddresses." + group
	rangesName    = "servicecidrs." + group
)

// objects are what is kept of a dump.
type objects struct {
	*dump.Cluster
	services  kept.Objects[service] // by namespace/name
	addresses kept.Objects[address]
	ranges    kept.Objects[[]string] // of each ServiceCIDR
	config    kept.Objects[kubeadm.Configuration]
	pods      kept.Objects[kubeadm.Program] // of the control plane
}

func open(c *dump.Cluster) *dump.Reading {
	o := &objects{
		Cluster: c, services: kept.Objects[service]{}, addresses: kept.Objects[address]{}, ranges: kept.Objects[[]string]{}, config: kept.Objects[kubeadm.Configuration]{}, pods: kept.Objects[kubeadm.Program]{},
	}
	return &dump.Reading{
		Add: o.add, Draft: o.draft, Concluded: concluded,
		Found:  func() bool { return len(o.services)+len(o.addresses) > 0 },
		Forget: func() { o.ranges, o.config, o.pods = nil, nil, nil },
	}
}

// concluded returns the resources that must lack an object for a violation to hold.
func concluded(v *model.Violation, _ *model.Snapshot) []string {
	if v.Invariant == invariant.UnbackedService.Name && v.Code == invariant.NoIPAddress {
		return []string{addressesName}
	}
	return nil
}

// service is what is kept of a Service's spec.
type service struct {
	Type                  string   `json:"type,omitempty"`
	ClusterIP             string   `json:"clusterIP,omitempty"`
	ClusterIPs            []string `json:"clusterIPs,omitempty"`
	IPFamilies            []string `json:"ipFamilies,omitempty"`
	IPFamilyPolicy        string   `json:"ipFamilyPolicy,omitempty"`
	Ports                 []port   `json:"ports,omitempty"`
	HealthCheckNodePort   int32    `json:"healthCheckNodePort,omitempty"`
	ExternalTrafficPolicy string   `json:"externalTrafficPolicy,omitempty"`
	Allocate              *bool    `json:"allocateLoadBalancerNodePorts,omitempty"`
}

type port struct {
	Name     string `json:"name,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	Port     int32  `json:"port"`
	NodePort int32  `json:"nodePort,omitempty"`
}

// address is what is kept of an IPAddress.
type address struct {
	Managed bool // the API servers made it
	Parent  parent
}

type parent struct {
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// service is namespace/name of the Service that it is for, "" if it is for something else.
func (p *parent) service() string {
	if p.Group != "" || p.Resource != servicesName {
		return ""
	}
	return p.Namespace + "/" + p.Name
}

func (o *objects) add(h *kept.Head, raw json.RawMessage) (bool, error) {
	switch h.Kind {
	case "ConfigMap":
		return kubeadm.Keep(o.Store, o.config, h, raw)
	case "Pod":
		return kubeadm.KeepPod(o.Store, o.pods, h, raw)
	case "IPAddress":
		return true, o.addAddress(h, raw)
	case "ServiceCIDR":
		return true, o.addRange(h, raw)
	}
	return o.addService(h, raw)
}

// addService keeps a Service with an address, or with the request for none.
func (o *objects) addService(h *kept.Head, raw json.RawMessage) (bool, error) {
	var s service
	if err := kept.SpecOf(raw, &s); err != nil {
		return false, err
	}
	if len(s.ClusterIPs) == 0 && s.ClusterIP != "" {
		s.ClusterIPs = []string{s.ClusterIP}
	}
	if s.Type == "ExternalName" || len(s.ClusterIPs) == 0 {
		return false, nil
	}
	for _, text := range s.ClusterIPs {
		if _, err := netip.ParseAddr(text); err != nil && text != none {
			return false, h.Fail("spec.clusterIPs", "%q is not an address, want one or %s", text, none)
		}
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	s.ClusterIP = s.ClusterIPs[0]
	return true, kept.Put(o.Store, o.services, h.Key(), h, s)
}

// none is the cluster IP of a headless Service.
const none = "None"

// managedBy is the label with the creator of an IPAddress, and byAllocator its value for the API servers.
//
// Source: k8s.io/api/networking/v1, LabelManagedBy; pkg/registry/core/service/ipallocator,
// ControllerName (v1.37.2).
const (
	managedBy   = "ipaddress.kubernetes.io/managed-by"
	byAllocator = "ipallocator.k8s.io"
	familyLabel = "ipaddress.kubernetes.io/ip-family"
)

func (o *objects) addAddress(h *kept.Head, raw json.RawMessage) error {
	a, err := netip.ParseAddr(h.Metadata.Name)
	if err != nil || a.Zone() != "" || a.String() != h.Metadata.Name {
		return h.Fail("metadata.name", "%q is not an address in its shortest form", h.Metadata.Name)
	}
	var spec struct {
		ParentRef parent `json:"parentRef"`
	}
	if err := kept.SpecOf(raw, &spec); err != nil {
		return err
	}
	return kept.Put(o.Store, o.addresses, h.Metadata.Name, h, address{h.Metadata.Labels[managedBy] == byAllocator, spec.ParentRef})
}

func (o *objects) addRange(h *kept.Head, raw json.RawMessage) error {
	var spec struct {
		CIDRs []string `json:"cidrs"`
	}
	if err := kept.SpecOf(raw, &spec); err != nil {
		return err
	}
	for _, s := range spec.CIDRs {
		if _, err := netip.ParsePrefix(s); err != nil {
			return h.Fail("spec.cidrs", "%q is not a range, want e.g. 10.96.0.0/12", s)
		}
	}
	return kept.Put(o.Store, o.ranges, h.Metadata.Name, h, spec.CIDRs)
}

// objectsOf are what addresses and Services may be called.
func objectsOf(thing model.Ref, _ []model.Ref) []string {
	switch thing.Kind {
	case model.RefAddress:
		return []string{"IPAddress " + thing.Name}
	case model.RefService:
		return []string{"Service " + thing.Name}
	}
	return nil
}

// check shows the Service and the IPAddress that are at odds: one may have come between two
// lists.
func check(v *model.Violation) string {
	namespace, name, _ := strings.Cut(model.Named(v.Objects, model.RefService), "/")
	a := model.Named(v.Objects, model.RefAddress)
	service := "kubectl get service -n " + namespace + " " + name + " -o jsonpath={.spec.clusterIPs}"
	switch v.Invariant {
	case invariant.UnbackedService.Name:
		if a != "" {
			return "kubectl get " + addressesName + " " + a + " -o jsonpath={.spec.parentRef}: NotFound or another Service confirms the finding"
		}
	case invariant.LeakedServiceClaim.Name:
		if a != "" && name != "" {
			return service + ": NotFound or other addresses confirm the finding"
		}
	case invariant.DuplicateClusterIP.Name, invariant.DuplicateNodePort.Name, invariant.ServiceFamilies.Name, invariant.ServiceNodePorts.Name:
		return "kubectl get services --all-namespaces -o 'custom-columns=NS:.metadata.namespace,NAME:.metadata.name,IPS:.spec.clusterIPs,FAMILIES:.spec.ipFamilies,NODEPORTS:.spec.ports[*].nodePort'"
	}
	return ""
}
