package whereabouts

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/kept"
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
		if p.IPAM.Type == upstreamName {
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

// addAttachment keeps the networks that Whereabouts serves.
func (c *objects) addAttachment(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			Config string `json:"config"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	if _, ipam := ipamOf(o.Spec.Config); ipam.Type != upstreamName {
		c.Ignore("NetworkAttachmentDefinition of another address manager")
		return nil
	}
	return kept.Put(c.Store, c.attachments, h.Key(), h, o.Spec.Config)
}
