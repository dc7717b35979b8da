package dump

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios"
)

// network is a NetworkAttachmentDefinition that Whereabouts serves.
type network struct {
	key     string // namespace/name
	config  string
	name    string // Whereabouts' network_name
	overlap bool
	sliced  bool   // by nodes
	path    string // of a file on the nodes that says the rest
	ranges  []netip.Prefix
	invoked string // the configuration's own name
}

// ipamConfig is what is read here of Whereabouts' configuration.
//
// Source: pkg/types, IPAMConfig (v0.9.4).
type ipamConfig struct {
	Type    string      `json:"type"`
	Range   string      `json:"range,omitempty"`
	Start   string      `json:"range_start,omitempty"`
	End     string      `json:"range_end,omitempty"`
	Ranges  []ipamRange `json:"ipRanges,omitempty"`
	Exclude []string    `json:"exclude,omitempty"`
	Overlap *bool       `json:"enable_overlapping_ranges,omitempty"`
	Name    string      `json:"network_name,omitempty"`
	Slice   string      `json:"node_slice_size,omitempty"`
	Path    string      `json:"configuration_path,omitempty"`
}

type ipamRange struct {
	Range   string   `json:"range"`
	Start   string   `json:"range_start,omitempty"`
	End     string   `json:"range_end,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// ipamOf finds Whereabouts' part of a configuration.
func ipamOf(config string) (name string, out ipamConfig) {
	type plugin struct {
		IPAM ipamConfig `json:"ipam"`
	}
	var o struct {
		Name string `json:"name"`
		plugin
		Plugins []plugin `json:"plugins"`
	}
	if json.Unmarshal([]byte(config), &o) != nil {
		return "", out
	}
	for _, p := range append(o.Plugins, o.plugin) {
		if p.IPAM.Type == "whereabouts" {
			return o.Name, p.IPAM
		}
	}
	return o.Name, out
}

func networkOf(key, config string) network {
	n := network{key: key, config: config}
	var c ipamConfig
	n.invoked, c = ipamOf(config)
	n.path = c.Path
	n.name, n.overlap, n.sliced = c.Name, c.Overlap == nil || *c.Overlap, c.Slice != ""
	for _, s := range append([]string{c.Range}, rangesOf(c)...) {
		// "10.0.0.1-10.0.0.9/24" is a range with its ends.
		if _, after, ok := strings.Cut(s, "-"); ok {
			s = after
		}
		if p, err := netip.ParsePrefix(s); err == nil {
			n.ranges = append(n.ranges, p.Masked())
		}
	}
	return n
}

// withoutPath is a configuration that names no file on the nodes.
func withoutPath(config string) string {
	var o map[string]any
	if json.Unmarshal([]byte(config), &o) != nil {
		return config
	}
	plugins, _ := o["plugins"].([]any)
	for _, p := range append(slices.Clone(plugins), any(o)) {
		if m, ok := p.(map[string]any); ok {
			if ipam, ok := m["ipam"].(map[string]any); ok {
				maps.DeleteFunc(ipam, func(k string, _ any) bool { return strings.EqualFold(k, "configuration_path") })
			}
		}
	}
	out, err := json.Marshal(o)
	if err != nil {
		return config
	}
	return string(out)
}

func rangesOf(c ipamConfig) []string {
	var out []string
	for _, r := range c.Ranges {
		out = append(out, r.Range)
	}
	return out
}

func (n *network) contains(a netip.Addr) bool {
	return slices.ContainsFunc(n.ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// attached takes over the networks. Without any, each pool becomes one.
func (d *draft) attached() {
	c := d.Cluster
	files := map[string]bool{}
	for _, key := range c.attachments.keys() {
		n := networkOf(key, c.attachments[key].value)
		switch {
		case n.path != "" && len(n.ranges) == 0:
			files[n.path] = true
			d.left("NetworkAttachmentDefinition %s, whose ranges are in a file on the nodes (configuration_path)", d.some([]string{key}))
			continue
		case n.path != "":
			n = networkOf(key, withoutPath(n.config))
			d.left("what a file on the nodes adds to NetworkAttachmentDefinition %s (configuration_path)", d.some([]string{key}))
		}
		d.networks = append(d.networks, n)
		d.origin("NetworkAttachmentDefinition "+key, c.attachments[key].from)
	}
	d.takeRanges()
	d.madeOf(files)
}

// madeOf makes networks of the pools that no definition is for: of all, if there is no
// definition, and of those whose definitions are in files on the nodes.
func (d *draft) madeOf(files map[string]bool) {
	if len(d.networks) > 0 && len(files) == 0 {
		return
	}
	var made []string
	for _, key := range keysOf(d.ranged) {
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
		d.partly = append(d.partly, scenarios.Unjudged{What: ofNetworks, Without: keysOf(files), Pools: made})
		return
	}
	d.unknown("no NetworkAttachmentDefinitions in the dump: made of the pools, %s, without what is excluded", d.some(made))
}

// whereaboutsNamespace is where Whereabouts keeps its objects unless it is told
// otherwise, and where the simulated one does.
const whereaboutsNamespace = "kube-system"

// here is the key of an object of Whereabouts' in the scenario.
func here(key string) string {
	_, name, _ := strings.Cut(key, "/")
	return whereaboutsNamespace + "/" + name
}

// takeRanges takes over Whereabouts' pools and slices.
func (d *draft) takeRanges() {
	c := d.Cluster
	moved := map[string]bool{}
	for _, key := range c.rangePools.keys() {
		p := c.rangePools[key].value
		if d.ranged[here(key)] != nil {
			d.left("a second pool of the name %s, in another namespace", strings.TrimPrefix(here(key), whereaboutsNamespace+"/"))
			continue
		}
		d.ranged[here(key)] = &p
		d.origin("IPPool "+here(key), c.rangePools[key].from)
		if here(key) != key {
			moved[strings.Split(key, "/")[0]] = true
		}
	}
	for _, key := range c.slicePools.keys() {
		p := c.slicePools[key].value
		d.sliced[here(key)] = &p
		d.origin("NodeSlicePool "+here(key), c.slicePools[key].from)
	}
	if len(moved) > 0 && !d.o.Anonymise {
		d.left("the namespace of Whereabouts' objects, %s: here it is %s", some(keysOf(moved)), whereaboutsNamespace)
	}
}

// madeUp is a network of one range, under the name by which a pod has an address
// of it, if one has.
func (d *draft) madeUp(p netip.Prefix) network {
	key := "default/imported-" + strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(p.String())
	for _, ref := range d.Cluster.pods.keys() {
		x := &d.Cluster.pods[ref].value
		for _, s := range statuses(x.Annotations[statusAnnotation]) {
			if !s.Default && slices.ContainsFunc(s.addrs(), p.Contains) {
				if name := qualified(s.Name, x.Namespace); strings.Count(name, "/") == 1 {
					return made(name, p)
				}
			}
		}
	}
	return made(key, p)
}

func made(key string, p netip.Prefix) network {
	config, _ := json.Marshal(map[string]any{
		"cniVersion": "0.3.1", "name": "imported", "type": "macvlan",
		"ipam": ipamConfig{Type: "whereabouts", Range: p.String()},
	})
	return networkOf(key, string(config))
}

// networkOf is the network that a pool belongs to, nil if there is none.
func (d *draft) networkOf(pool string) *network {
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

func (d *draft) network(key string) *network {
	if i := slices.IndexFunc(d.networks, func(n network) bool { return n.key == key }); i >= 0 {
		return &d.networks[i]
	}
	return nil
}

