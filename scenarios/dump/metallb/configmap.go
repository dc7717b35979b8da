package metallb

import (
	"encoding/json"

	"sigs.k8s.io/yaml"

	reference "ipamsim/model/reference/metallb"
	"ipamsim/scenarios/dump/kept"
)

// configMax is as much of a ConfigMap as makes sense.
const configMax = 1 << 20

// addConfig reads the ConfigMap in which MetalLB before 0.13 had its pools. They are announced
// by their protocol.
//
// Source: configmaptocrs/types.go, which reads the same.
func (o *objects) addConfig(h *kept.Head, raw json.RawMessage) (bool, error) {
	if h.Key() != system+"/"+configName {
		return false, nil
	}
	var m struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return false, err
	}
	text := m.Data[configName]
	if text == "" {
		return false, nil
	}
	var c struct {
		Pools []struct {
			Name          string   `json:"name"`
			Addresses     []string `json:"addresses"`
			AutoAssign    *bool    `json:"auto-assign"`
			AvoidBuggyIPs bool     `json:"avoid-buggy-ips"`
		} `json:"address-pools"`
	}
	const field = "data." + configName
	if len(text) > configMax || yaml.Unmarshal([]byte(text), &c) != nil {
		return false, h.Fail(field, "not a configuration of MetalLB: want YAML with address-pools")
	}
	var pools []poolSpec
	for _, p := range c.Pools {
		if len(p.Addresses) == 0 || len(p.Addresses) > rangesMax || len(pools) > rangesMax {
			return false, h.Fail(field, "a pool of %d ranges, want 1 to %d", len(p.Addresses), rangesMax)
		}
		for _, s := range p.Addresses {
			if _, err := reference.ParseRange(s); err != nil {
				return false, h.Fail(field, "%s", err)
			}
		}
		pools = append(pools, poolSpec{name: p.Name, Addresses: p.Addresses, AutoAssign: p.AutoAssign, AvoidBuggyIPs: p.AvoidBuggyIPs, announced: true})
	}
	if len(pools) == 0 {
		return false, nil
	}
	return true, kept.Put(o.Store, o.config, h.Key(), h, pools)
}
