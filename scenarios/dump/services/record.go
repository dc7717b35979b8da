package services

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/kubeadm"
	"ipamsim/scenarios/dump/manifest"
)

// record is Services' of a scenario.
type record struct {
	*dump.Draft
	c         *objects
	services  map[string]service
	addresses map[string]address
	ranges    map[string][]string
	config    kubeadm.Configuration
}

func (o *objects) draft(d *dump.Draft) (*dump.Record, error) {
	r := &record{Draft: d, c: o, services: map[string]service{}, addresses: map[string]address{}, ranges: map[string][]string{}}
	clear(d.Nodes) // Services have no nodes
	for key, x := range o.services {
		r.services[key] = x.Value
	}
	for key, x := range o.addresses {
		r.addresses[key] = x.Value
	}
	for key, x := range o.ranges {
		r.ranges[key] = x.Value
	}
	r.origins()
	r.configure()
	hidden := slices.Concat(r.bitmaps(), r.hide())
	if len(o.services) > 0 {
		r.Unknown("the node ports that the API servers have marked as allocated: only etcd has them")
	}
	return &dump.Record{
		Claims: r.claims, Write: r.write, Settings: r.config.Write,
		Spec:  func(spec map[string]any) { spec["nodes"] = []string{"n0"} }, // a scenario has one
		Needs: needs, Unjudged: func() []scenarios.Unjudged { return hidden },
		Names: r.names, Ranges: r.texts, Rename: r.rename,
	}, nil
}

// origins records where every object was read.
func (r *record) origins() {
	for key, x := range r.c.services {
		r.Origin("Service "+key, x.From)
	}
	for key, x := range r.c.addresses {
		r.Origin("IPAddress "+key, x.From)
	}
	for key, x := range r.c.ranges {
		r.Origin("ServiceCIDR "+key, x.From)
	}
}

// defaultRange is the ServiceCIDR that the API servers make of their own configuration.
const defaultRange = "kubernetes"

// configure derives the ranges of the API servers: from their pods or kubeadm, or the default ServiceCIDR,
// or else from the existing addresses.
func (r *record) configure() {
	r.config = kubeadm.Effective(r.Draft, r.c.config, r.c.pods)
	r.config.ControllerManager, r.config.Networking.PodSubnet = kubeadm.Component{}, ""
	if len(r.config.Ranges()) > 0 {
		return
	}
	if all := r.ranges[defaultRange]; len(all) > 0 {
		r.config.Networking.ServiceSubnet = strings.Join(all, ",")
		return
	}
	by := map[bool][]netip.Prefix{}
	for _, key := range kept.Keys(r.services) {
		for _, text := range r.services[key].ClusterIPs {
			if a, err := netip.ParseAddr(text); err == nil {
				by[a.Is4()] = append(by[a.Is4()], netip.PrefixFrom(a, a.BitLen()))
			}
		}
	}
	var subnets []string
	for _, v4 := range []bool{true, false} {
		if p, longest := kubeadm.Around(by[v4], 16); longest > 0 {
			subnets = append(subnets, p.String())
		}
	}
	r.config.Networking.ServiceSubnet = strings.Join(subnets, ",")
}

// bitmaps reports a dump without any IPAddress, although a cluster that uses them has one for the
// Service default/kubernetes: before 1.33 the API servers kept allocations only in etcd by
// default. No visible object guards an address then.
func (r *record) bitmaps() []scenarios.Unjudged {
	if len(r.addresses) > 0 || len(r.services) == 0 {
		return nil
	}
	clear(r.ranges)
	if !r.Saw(addressesName) {
		return nil // reported as missing from the dump
	}
	return []scenarios.Unjudged{{What: []string{invariant.LeakedServiceClaim.Name, invariant.UnbackedService.Name}, Without: []string{addressesName}}}
}

// hide leaves out what may belong to a Service that the dump does not show: kubectl get
// services without --all-namespaces shows one namespace, and no address in use may be called
// leaked.
func (r *record) hide() []scenarios.Unjudged {
	shown, hidden := r.shown(), map[string]bool{}
	for _, key := range kept.Keys(r.addresses) {
		x := r.addresses[key]
		ref := x.Parent.service()
		namespace, _, _ := strings.Cut(ref, "/")
		if _, there := r.services[ref]; ref != "" && !there && !r.c.All(servicesName, namespace, shown[namespace]) {
			hidden[namespace] = true
			delete(r.addresses, key)
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	return []scenarios.Unjudged{{What: []string{invariant.LeakedServiceClaim.Name}, Without: []string{servicesName}, Namespaces: kept.Keys(hidden)}}
}

// shown returns the namespaces with Services in the dump.
func (r *record) shown() map[string]bool {
	out := map[string]bool{}
	for key := range r.services {
		namespace, _, _ := strings.Cut(key, "/")
		out[namespace] = true
	}
	return out
}

// needs are what cannot be judged without a resource.
func needs(x *dump.Resource) []string {
	switch x.Name() {
	case servicesName:
		return judged
	case addressesName:
		return []string{invariant.LeakedServiceClaim.Name, invariant.UnbackedService.Name}
	case rangesName:
		return []string{invariant.UnbackedService.Name}
	}
	return nil
}

// claims are of no pod.
func (r *record) claims() (out []dump.Claim) {
	for _, key := range kept.Keys(r.addresses) {
		out = append(out, dump.Claim{Addr: netip.MustParseAddr(key)})
	}
	return out
}

func (r *record) write(w *manifest.Writer) {
	for _, key := range kept.Keys(r.ranges) {
		w.Manifest(version, "ServiceCIDR", manifest.Named(key), "spec", manifest.Object{"cidrs": r.ranges[key]})
	}
	for _, key := range kept.Keys(r.addresses) {
		x, labels := r.addresses[key], map[string]string{}
		if x.Managed {
			labels = map[string]string{managedBy: byAllocator, familyLabel: model.FamilyOf(netip.MustParseAddr(key))}
		}
		w.Manifest(version, "IPAddress", manifest.With(manifest.Named(key), "labels", labels), "spec", manifest.Object{"parentRef": x.Parent})
	}
	for _, key := range kept.Keys(r.services) {
		w.Manifest("v1", "Service", manifest.InNamespace(key), "spec", r.services[key])
	}
}

// serviceNames are what Services are called, rangeNames ServiceCIDRs.
const (
	serviceNames = "service"
	rangeNames   = "servicecidr"
)

func (r *record) names(n alias.Names) {
	n.Add(serviceNames)
	n.Add(rangeNames)
	add := func(key string) {
		namespace, name, _ := strings.Cut(key, "/")
		n.Add(alias.Namespace, namespace)
		n.Add(serviceNames, name)
	}
	for key := range r.services {
		add(key)
	}
	for _, x := range r.addresses {
		add(x.Parent.service())
	}
	for key := range r.ranges {
		n.Add(rangeNames, key)
	}
}

func (r *record) texts() (out []string) {
	for _, key := range kept.Keys(r.ranges) {
		out = append(out, r.ranges[key]...)
	}
	for _, key := range kept.Keys(r.services) {
		out = append(out, r.services[key].ClusterIPs...)
	}
	return append(out, r.config.Ranges()...)
}

func (r *record) rename(a *alias.Aliases) error {
	services, addresses, ranges := map[string]service{}, map[string]address{}, map[string][]string{}
	for key, s := range r.services {
		s.ClusterIPs = slices.Clone(s.ClusterIPs)
		for i, text := range s.ClusterIPs {
			if text != none {
				s.ClusterIPs[i] = a.Text(text)
			}
		}
		s.ClusterIP, s.Ports = s.ClusterIPs[0], slices.Clone(s.Ports)
		for i := range s.Ports {
			s.Ports[i].Name = ""
			if len(s.Ports) > 1 {
				s.Ports[i].Name = "port-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
			}
		}
		services[a.InNamespace(serviceNames, key)] = s
	}
	for key, x := range r.addresses {
		if ref := x.Parent.service(); ref != "" {
			x.Parent.Namespace, x.Parent.Name, _ = strings.Cut(a.InNamespace(serviceNames, ref), "/")
		} else { // a user's own kind
			x.Parent = parent{Group: "example.org", Resource: "others", Name: "other"}
		}
		addresses[a.Text(key)] = x
	}
	for key, all := range r.ranges {
		name := key
		if key != defaultRange {
			name = a.Get(rangeNames, key)
		}
		ranges[name] = a.Texts(all)
	}
	r.services, r.addresses, r.ranges = services, addresses, ranges
	r.config.Rename(a)
	return nil
}
