package whereabouts

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

// record is Whereabouts' of a scenario: what was read, and what had to be concluded because
// it was not.
type record struct {
	*dump.Draft
	c *objects

	networks []network
	plugins  []string              // CNI plugins that are not simulated
	ranged   map[string]*rangePool // by namespace/name, as the others
	sliced   map[string]*slicePool
	reserved map[string]*rangeReservation
}

func (c *objects) draft(d *dump.Draft) (*dump.Record, error) {
	r := &record{Draft: d, c: c, ranged: map[string]*rangePool{}, sliced: map[string]*slicePool{}, reserved: map[string]*rangeReservation{}}
	r.attached()
	r.reservedRanges()
	out := &dump.Record{
		Claims: r.claims, Write: r.write, Settings: r.writeNetworks, Spec: r.spec, Needs: r.needs, Guards: r.guards,
		Names: r.names, Ranges: r.texts, Rename: r.rename,
	}
	for _, n := range r.networks {
		out.Networks = append(out.Networks, dump.Network{Key: n.key, Invoked: n.invoked, Ranges: n.ranges})
	}
	return out, nil
}

// claims are all of the pools, in order.
func (d *record) claims() (out []dump.Claim) {
	for _, key := range kept.Keys(d.ranged) {
		p := d.ranged[key]
		first, err := netip.ParsePrefix(p.Range)
		if err != nil {
			continue
		}
		network := ""
		if n := d.networkOf(key); n != nil {
			network = n.key
		}
		for _, k := range sortedOffsets(p.Allocations) {
			a := p.Allocations[k]
			if addr := at(first.Addr(), k); addr.IsValid() {
				out = append(out, dump.Claim{Addr: addr, Pod: a.PodRef, Container: a.ID, Attached: true, Network: network, Interface: a.IfName})
			}
		}
	}
	return out
}

// guards are the reservations across ranges.
func (d *record) guards() (out []dump.Claim) {
	for _, key := range kept.Keys(d.reserved) {
		r := d.reserved[key]
		cl := dump.Claim{Pod: r.PodRef, Attached: true}
		for _, name := range []string{key[strings.LastIndexAny(key, "/-")+1:], strings.ReplaceAll(key[strings.IndexByte(key, '/')+1:], "-", ":")} {
			if a, err := netip.ParseAddr(name); err == nil && !cl.Addr.IsValid() {
				cl.Addr = a
			}
		}
		out = append(out, cl)
	}
	return out
}

// at is the address that an allocation's key means, not valid if there is none.
func at(first netip.Addr, key string) netip.Addr {
	n, err := strconv.ParseUint(key, 10, 64)
	if err != nil {
		return netip.Addr{}
	}
	return alias.Offset(first, n)
}

// sortedOffsets are the keys of allocations, by number.
func sortedOffsets[V any](m map[string]V) []string {
	out := kept.Keys(m)
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return out
}

// spec says when the reconciler runs.
func (d *record) spec(spec map[string]any) {
	var out []manifest.Object
	for _, key := range d.c.cronJobs.Keys() {
		out = append(out, manifest.Object{"name": reconcilerName, "schedule": strings.Trim(string(d.c.cronJobs[key].Value), `"`)})
	}
	if len(out) > 0 {
		spec["reconcilers"] = out
	}
	if len(d.plugins) > 0 {
		m, _ := spec["import"].(scenarios.Import)
		m.Plugins = d.plugins
		spec["import"] = m
	}
}

// assume takes note of CNI plugins that are not simulated.
func (d *record) assume(plugins []string) {
	for _, kind := range plugins {
		if !slices.Contains(d.plugins, kind) {
			d.plugins = append(d.plugins, kind)
			d.Left("how CNI plugin %s uses addresses: assumed to work like macvlan", kind)
		}
	}
}

func (d *record) writeNetworks(w *manifest.Writer) {
	for _, n := range d.networks {
		w.Manifest("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", manifest.InNamespace(n.key), "spec", manifest.Object{"config": n.config})
	}
}

func (d *record) write(w *manifest.Writer) {
	for _, key := range kept.Keys(d.sliced) {
		s := *d.sliced[key]
		if s.Status.Allocations == nil {
			s.Status.Allocations = []slice{}
		}
		w.Manifest(version, "NodeSlicePool", manifest.InNamespace(key), "spec", s.Spec, "status", s.Status)
	}
	for _, key := range kept.Keys(d.ranged) {
		w.Manifest(version, "IPPool", manifest.InNamespace(key), "spec", d.ranged[key])
	}
	for _, key := range kept.Keys(d.reserved) {
		w.Manifest(version, "OverlappingRangeIPReservation", manifest.InNamespace(key), "spec", d.reserved[key])
	}
}

// attached takes over the networks. Without any, each pool becomes one.
func (d *record) attached() {
	c := d.c
	files := map[string]bool{}
	for _, key := range c.attachments.Keys() {
		n := networkOf(key, c.attachments[key].Value)
		switch {
		case n.path != "" && len(n.ranges) == 0:
			files[n.path] = true
			d.Left("the ranges of NetworkAttachmentDefinition %s, which are in a file on the nodes (configuration_path)", d.Some([]string{key}))
			continue
		case n.path != "":
			n = networkOf(key, withoutPath(n.config))
			d.Left("the configuration of NetworkAttachmentDefinition %s that is in a file on the nodes (configuration_path)", d.Some([]string{key}))
		}
		d.networks = append(d.networks, n)
		d.assume(scenarios.UnknownPlugins(n.config))
		d.Origin("NetworkAttachmentDefinition "+key, c.attachments[key].From)
	}
	d.takeRanges()
	d.madeOf(files)
}

// madeOf makes networks of the pools that no definition is for: of all, if there is no
// definition, and of those whose definitions are in files on the nodes.
func (d *record) madeOf(files map[string]bool) {
	if len(d.networks) > 0 && len(files) == 0 {
		return
	}
	var made []string
	for _, key := range kept.Keys(d.ranged) {
		if d.networkOf(key) != nil {
			continue
		}
		p, _ := netip.ParsePrefix(d.ranged[key].Range)
		n := d.madeUp(p.Masked())
		if slices.ContainsFunc(d.networks, func(o network) bool { return o.key == n.key }) {
			continue
		}
		d.networks = append(d.networks, n)
		made = append(made, n.key)
	}
	if len(files) > 0 {
		d.Doubt(scenarios.Unjudged{What: ofNetworks, Without: kept.Keys(files), Pools: made})
		return
	}
	d.Unknown("no NetworkAttachmentDefinitions in the dump: derived from the pools, %s, without exclusions", d.Some(made))
}

// here is the key of an object of Whereabouts' in the scenario.
func here(key string) string {
	_, name, _ := strings.Cut(key, "/")
	return kubeSystem + "/" + name
}

// takeRanges takes over Whereabouts' pools and slices.
func (d *record) takeRanges() {
	c := d.c
	moved := map[string]bool{}
	for _, key := range c.rangePools.Keys() {
		p := c.rangePools[key].Value
		if d.ranged[here(key)] != nil {
			d.Left("a second pool named %s, in another namespace", strings.TrimPrefix(here(key), kubeSystem+"/"))
			continue
		}
		d.ranged[here(key)] = &p
		d.Origin("IPPool "+here(key), c.rangePools[key].From)
		if here(key) != key {
			moved[strings.Split(key, "/")[0]] = true
		}
	}
	for _, key := range c.slicePools.Keys() {
		p := c.slicePools[key].Value
		d.sliced[here(key)] = &p
		d.Origin("NodeSlicePool "+here(key), c.slicePools[key].From)
	}
	if len(moved) > 0 && !d.Options.Anonymise {
		d.Left("the namespace of Whereabouts' objects, %s: here it is %s", layout.Some(kept.Keys(moved)), kubeSystem)
	}
}

// madeUp is a network of one range, under the name by which a pod has an address
// of it, if one has.
func (d *record) madeUp(p netip.Prefix) network {
	key := "default/imported-" + strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(p.String())
	if name := kept.Called(d.Pods, p); name != "" {
		key = name
	}
	return made(key, p)
}

func made(key string, p netip.Prefix) network {
	config, _ := json.Marshal(map[string]any{
		"cniVersion": "0.3.1", "name": "imported", "type": "macvlan",
		"ipam": ipamConfig{Type: upstreamName, Range: p.String()},
	})
	return networkOf(key, string(config))
}

// networkOf is the network that a pool belongs to, nil if there is none.
func (d *record) networkOf(pool string) *network {
	_, name, _ := strings.Cut(pool, "/")
	p, err := netip.ParsePrefix(d.ranged[pool].Range)
	if err != nil {
		return nil
	}
	for i := range d.networks {
		n := &d.networks[i]
		if n.contains(p.Addr()) && (n.name == "" || strings.HasPrefix(name, n.name+"-")) {
			return n
		}
	}
	return nil
}

// reservedRanges takes over Whereabouts' reservations across ranges.
func (d *record) reservedRanges() {
	c := d.c
	for _, key := range c.rangeReserved.Keys() {
		r := c.rangeReserved[key].Value
		d.reserved[here(key)] = &r
		d.Origin("OverlappingRangeIPReservation "+here(key), c.rangeReserved[key].From)
	}
	if len(d.reserved) > 0 || c.SawKind("OverlappingRangeIPReservation") {
		return
	}
	for _, key := range kept.Keys(d.ranged) {
		n := d.networkOf(key)
		if n == nil || !n.overlap {
			continue
		}
		first, _ := netip.ParsePrefix(d.ranged[key].Range)
		for k, a := range d.ranged[key].Allocations {
			addr := at(first.Addr(), k)
			name := normalized(addr)
			if n.name != "" {
				name = n.name + "-" + name
			}
			d.reserved[kubeSystem+"/"+name] = &rangeReservation{ContainerID: a.ID, PodRef: a.PodRef, IfName: a.IfName}
		}
	}
	if len(d.reserved) > 0 {
		d.Unknown("no OverlappingRangeIPReservations in the dump: derived from the pools, so leftover or missing ones cannot be detected")
	}
}
