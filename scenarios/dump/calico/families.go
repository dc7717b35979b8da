package calico

import (
	"encoding/json"
	"net/netip"
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

// podRanges are the pools of a cluster in which host-local assigns addresses from podCIDRs.
//
// Source: manifests/calico.yaml, CALICO_IPV4POOL_CIDR, which should be within --cluster-cidr (v3.31).
func (c *objects) podRanges() (out []netip.Prefix) {
	if !c.delegates() {
		return nil
	}
	for _, key := range c.pools.Keys() {
		if p, err := netip.ParsePrefix(c.pools[key].Value.CIDR); err == nil {
			out = append(out, p)
		}
	}
	return out
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
