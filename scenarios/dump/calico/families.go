package calico

import (
	"encoding/json"
	"slices"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/kept"
)

// addConfigMap reads the CNI configuration of Calico's manifest.
func (c *objects) addConfigMap(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	return kept.Put(c.Store, c.families, h.Key(), h, printed.Configuration(o.Data["cni_network_config"]))
}

// delegates reports whether host-local assigns addresses instead of Calico's IPAM: according to the
// manifest's configuration, and the dump has no record of Calico's.
func (c *objects) delegates() bool {
	says := slices.ContainsFunc(c.families.Keys(), func(key string) bool { return c.families[key].Value.Delegates })
	return says && len(c.blocks)+len(c.affinities)+len(c.handles)+len(c.tables.Blocks)+len(c.tables.Checked) == 0
}

// doubts reports the plugin that assigns addresses instead of Calico, and what the blocks would show if
// the configuration were outdated.
func (c *objects) doubts(d *dump.Draft) []scenarios.Unjudged {
	if !c.delegates() {
		return nil
	}
	d.Left("Calico's IPAM: according to calico-config, host-local assigns pod addresses from each node's podCIDRs")
	if c.SawAll(blocksName) {
		return nil
	}
	return []scenarios.Unjudged{{What: slices.Compact(slices.Sorted(slices.Values(ofBlocks))), Without: []string{blocksName}, Namespaces: []string{"Calico's IPAM"}}}
}
