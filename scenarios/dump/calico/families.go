package calico

import (
	"encoding/json"
	"regexp"
	"slices"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
)

// families are those of which Calico's CNI configuration gives every pod an
// address. delegates: it has host-local give them, of the nodes' podCIDRs.
type families struct{ v4, v6, delegates bool }

var delegated = regexp.MustCompile(`"ipam"\s*:\s*\{\s*"type"\s*:\s*"host-local"`)

var assigns = regexp.MustCompile(`"assign_ipv([46])"\s*:\s*"(true|false)"`)

// addConfigMap reads the CNI configuration of Calico's manifest.
func (c *objects) addConfigMap(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	f := families{v4: true, delegates: delegated.MatchString(o.Data["cni_network_config"])}
	for _, m := range assigns.FindAllStringSubmatch(o.Data["cni_network_config"], -1) {
		if m[1] == "4" {
			f.v4 = m[2] == "true"
		} else {
			f.v6 = m[2] == "true"
		}
	}
	return kept.Put(c.Store, c.families, h.Key(), h, f)
}

// delegates reports whether Calico's CNI plugin has host-local assign addresses: the dump has the
// configuration of Calico's manifest, which says so, and nothing that Calico's own IPAM has assigned.
func (c *objects) delegates() bool {
	says := slices.ContainsFunc(c.families.Keys(), func(key string) bool { return c.families[key].Value.delegates })
	return says && len(c.blocks)+len(c.affinities)+len(c.handles)+len(c.tables.Blocks)+len(c.tables.Checked) == 0
}

// doubts says who assigns addresses in Calico's place.
func (c *objects) doubts(d *dump.Draft) []scenarios.Unjudged {
	if c.delegates() {
		d.Left("Calico's IPAM: by calico-config host-local assigns the addresses of pods, of each node's podCIDRs")
	}
	return nil
}
