package metallb

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"ipamsim/model"
	"ipamsim/model/invariant"
	reference "ipamsim/model/reference/metallb"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

// record is MetalLB's of a scenario.
type record struct {
	*dump.Draft
	c        *objects
	pools    []poolSpec       // sorted by name
	judging  []reference.Pool // the same, without what lies in two of them
	overlaps [][2]string      // names of pools
	services map[string]service
	verdicts map[string]reference.Verdict
	holders  map[netip.Addr][]string // Services, sorted
	whole    bool                    // the dump shows that it has all Services
	place    string                  // the namespace of MetalLB's objects
}

func (o *objects) draft(d *dump.Draft) (*dump.Record, error) {
	clear(d.Nodes) // load balancers have no nodes
	r := &record{Draft: d, c: o, services: map[string]service{}, verdicts: map[string]reference.Verdict{}, holders: map[netip.Addr][]string{}}
	o.made = r
	r.takePools()
	r.separate()
	r.takeServices()
	r.judge()
	return &dump.Record{
		Claims: r.claims, Settings: r.writePools, Write: r.writeServices,
		Spec:     func(spec map[string]any) { spec["nodes"] = []string{"n0"} }, // a scenario has one
		Unjudged: r.unjudged, Needs: r.needs, Found: r.found,
		Names: r.names, Ranges: r.ranges, Rename: r.rename,
	}, nil
}

// takePools takes the pools of one namespace: a controller does not look at others. Where there
// are pools, it does not look at the ConfigMap.
func (r *record) takePools() {
	in := ""
	for _, key := range r.c.pools.Keys() {
		if namespace, _, _ := strings.Cut(key, "/"); in == "" || namespace == system {
			in = namespace
		}
	}
	r.place = cmp.Or(in, system)
	others := 0
	for _, key := range r.c.pools.Keys() {
		if namespace, _, _ := strings.Cut(key, "/"); namespace != in {
			others++
			continue
		}
		r.Origin("IPAddressPool "+r.c.pools[key].Value.name, r.c.pools[key].From)
		r.pools = append(r.pools, r.c.pools[key].Value)
	}
	if others > 0 {
		r.Left("%d IPAddressPools outside namespace %s, which MetalLB ignores", others, in)
	}
	for _, x := range r.c.config {
		if len(r.pools) > 0 {
			r.Left("the ConfigMap %s/%s: MetalLB 0.13 and later use IPAddressPools instead", system, configName)
			break
		}
		r.Origin("ConfigMap "+system+"/"+configName, x.From)
		r.pools = slices.Clone(x.Value)
	}
	slices.SortStableFunc(r.pools, func(a, b poolSpec) int { return strings.Compare(a.name, b.name) })
	r.call()
}

// poolName is what the API server takes for a name; a ConfigMap may have had others.
var poolName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?$`)

// call gives pools of a ConfigMap names that the API server takes, each once.
func (r *record) call() {
	for i := range r.pools {
		p := &r.pools[i]
		if !poolName.MatchString(p.name) || i > 0 && r.pools[i-1].name == p.name {
			p.name = fmt.Sprintf("pool-%d.config", i+1)
		}
	}
}

// separate makes the pools that are judged: upstream refuses a configuration in which an address
// is of two ranges, so that each is the first one's here.
//
// Source: internal/config, poolsFor.
func (r *record) separate() {
	type part struct {
		pool string
		of   reference.Range
	}
	var all []part
	for i := range r.pools {
		p := &r.pools[i]
		out := reference.Pool{Name: p.name, AvoidBuggy: p.AvoidBuggyIPs, Manual: p.AutoAssign != nil && !*p.AutoAssign, For: r.allocation(p.Allocation)}
		for _, text := range p.Addresses {
			x, _ := reference.ParseRange(text) // was checked
			left := []reference.Range{x}
			for _, o := range all {
				if !o.of.Overlaps(x) {
					continue
				}
				if pair := [2]string{o.pool, p.name}; !slices.Contains(r.overlaps, pair) {
					r.overlaps = append(r.overlaps, pair)
				}
				left = without(left, o.of)
			}
			all = append(all, part{p.name, x})
			out.Ranges = append(out.Ranges, left...)
		}
		r.judging = append(r.judging, out)
	}
}

// without is what ranges have and another one has not.
func without(all []reference.Range, o reference.Range) (out []reference.Range) {
	for _, x := range all {
		if !x.Overlaps(o) {
			out = append(out, x)
			continue
		}
		if x.First.Less(o.First) {
			out = append(out, reference.Range{First: x.First, Last: o.First.Prev()})
		}
		if o.Last.Less(x.Last) {
			out = append(out, reference.Range{First: o.Last.Next(), Last: x.Last})
		}
	}
	return out
}

// allocation is whose a pool is.
func (r *record) allocation(a *allocation) *reference.Allocation {
	if a == nil {
		return nil
	}
	out := &reference.Allocation{Namespaces: slices.Clone(a.Namespaces), Selective: len(a.Namespaces)+len(a.NamespaceSelectors) > 0}
	for _, name := range r.c.namespaces.Keys() {
		if matches(a.NamespaceSelectors, r.c.namespaces[name].Value) {
			out.Namespaces = append(out.Namespaces, name)
		}
	}
	if len(a.ServiceSelectors) > 0 {
		out.Services = []reference.Selector{func(of map[string]string) bool { return matches(a.ServiceSelectors, of) }}
	}
	return out
}

// matches reports whether one of some selectors, which can be read, takes these labels.
func matches(all []metav1.LabelSelector, of map[string]string) bool {
	return slices.ContainsFunc(all, func(s metav1.LabelSelector) bool {
		x, err := metav1.LabelSelectorAsSelector(&s)
		return err == nil && x.Matches(labels.Set(of))
	})
}

// takeServices takes the Services that MetalLB serves. A Service with a cloud provider's finalizer and
// without an address of a pool is the cloud's; if another manager assigns such addresses, too, it may be
// that manager's.
func (r *record) takeServices() {
	cloud, others := 0, 0
	r.whole = r.c.SawAll(servicesName)
	for _, key := range r.c.services.Keys() {
		x := r.c.services[key]
		if !r.c.serves(&x.Value) {
			continue
		}
		own := slices.ContainsFunc(kept.AddrsIn(x.Value.Addrs), func(a netip.Addr) bool { return r.poolOf(a) != nil })
		if x.Value.Named || x.Value.Cloud && !own {
			cloud++
			continue
		}
		if !own && r.c.Balancers() > 1 {
			others++
			continue
		}
		r.Origin("Service "+key, x.From)
		s := x.Value
		s.Spec.LoadBalancerClass = nil // the simulated controller is started without one
		r.services[key] = s
		for _, a := range kept.AddrsIn(x.Value.Addrs) {
			r.holders[a] = append(r.holders[a], key)
		}
	}
	if cloud > 0 {
		r.Left("%d LoadBalancer Services of a cloud provider", cloud)
	}
	if others > 0 {
		r.Left("%d LoadBalancer Services without an address of MetalLB: another manager of the dump may serve them", others)
	}
	for _, key := range r.c.announced.Keys() {
		x := r.c.announced[key].Value
		if name := x.Namespace + "/" + x.Name; x.Name != "" && r.c.services[name] == nil {
			r.whole = false // a speaker announces an address that is not in the dump
		}
	}
}

// poolOf is the pool that has an address, nil if none has.
func (r *record) poolOf(a netip.Addr) *reference.Pool {
	i := slices.IndexFunc(r.judging, func(p reference.Pool) bool { return p.Has(a) })
	if i < 0 {
		return nil
	}
	return &r.judging[i]
}

// complete reports whether the dump shows that it has all objects of a resource of MetalLB's, of
// its namespace at least.
func (r *record) complete(name string) bool { return r.c.All(name, r.place, true) }

// needs are what cannot be judged without a resource.
func (r *record) needs(x *dump.Resource) []string {
	switch {
	case x.Name() == servicesName:
		return judged
	case x.Name() == poolsName && len(r.c.pools) > 0 && !r.complete(poolsName):
		return []string{invariant.DisallowedLoadBalancerIP.Name, invariant.UnservedLoadBalancer.Name}
	case x.Name() == namespacesName && r.selects():
		return []string{invariant.DisallowedLoadBalancerIP.Name, invariant.UnservedLoadBalancer.Name}
	case (x.Name() == layer2Name || x.Name() == bgpName) && r.Saw(x.Name()) && !r.announcedAll() && !r.complete(x.Name()):
		return []string{invariant.UnservedLoadBalancer.Name}
	case x.Name() == peersName && r.Saw(peersName) && len(r.byPeers()) > 0 && !r.complete(peersName):
		return []string{invariant.UnservedLoadBalancer.Name}
	}
	return nil
}

// unjudged is whether clients reach the addresses, where nothing shows that the dump has the
// advertisements, and what hangs on pools that MetalLB refuses.
func (r *record) unjudged() (out []scenarios.Unjudged) {
	var pools, missing []string
	for _, p := range r.pools {
		pools = append(pools, p.name)
	}
	for _, name := range []string{layer2Name, bgpName} {
		if !r.Saw(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 && !r.announcedAll() {
		out = append(out, scenarios.Unjudged{What: []string{invariant.UnservedLoadBalancer.Name}, Without: missing, Pools: pools})
	}
	if pools := r.byPeers(); !r.Saw(peersName) && len(pools) > 0 {
		out = append(out, scenarios.Unjudged{What: []string{invariant.UnservedLoadBalancer.Name}, Without: []string{peersName}, Pools: pools})
	}
	if !r.whole && r.c.SawAll(servicesName) {
		out = append(out, scenarios.Unjudged{What: judged, Without: []string{servicesName}, Incomplete: true})
	}
	return out
}

// claims are of no pod.
func (r *record) claims() (out []dump.Claim) {
	for _, key := range kept.Keys(r.services) {
		for _, a := range kept.AddrsIn(r.services[key].Addrs) {
			out = append(out, dump.Claim{Addr: a})
		}
	}
	return out
}

func (r *record) writePools(w *manifest.Writer) {
	for _, name := range r.c.namespaces.Keys() {
		if r.Options.Anonymise || !r.selects() {
			break
		}
		w.Manifest("v1", "Namespace", manifest.With(manifest.Named(name), "labels", r.c.namespaces[name].Value))
	}
	for i, p := range r.pools {
		p.Addresses = nil
		for _, x := range r.judging[i].Ranges {
			p.Addresses = append(p.Addresses, x.First.String()+"-"+x.Last.String())
		}
		if len(p.Addresses) > 0 {
			w.Manifest(version, "IPAddressPool", manifest.InNamespace(system+"/"+p.name), "spec", p)
		}
	}
}

// selects reports whether a pool is for namespaces with certain labels.
func (r *record) selects() bool {
	return slices.ContainsFunc(r.pools, func(p poolSpec) bool { return p.Allocation != nil && len(p.Allocation.NamespaceSelectors) > 0 })
}

func (r *record) writeServices(w *manifest.Writer) {
	for _, key := range kept.Keys(r.services) {
		s := r.services[key]
		var ingress []manifest.Object
		for _, a := range s.Addrs {
			ingress = append(ingress, manifest.Object{"ip": a})
		}
		meta := manifest.With(manifest.InNamespace(key), "labels", s.Labels, "annotations", s.Annotations)
		w.Manifest("v1", "Service", meta, "spec", s.Spec, "status", manifest.Object{"loadBalancer": manifest.Object{"ingress": ingress}})
	}
}

// objectsWith are the references to things of a violation.
func objectsWith(kind model.RefKind, names ...string) (out []model.Ref) {
	for _, n := range names {
		out = append(out, model.Ref{Kind: kind, Name: n})
	}
	return out
}
