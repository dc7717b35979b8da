package calico

import (
	"encoding/json"
	"regexp"

	"ipamsim/scenarios/dump/kept"
)

// families are those of which Calico's CNI configuration gives every pod an
// address.
type families struct{ v4, v6 bool }

var assigns = regexp.MustCompile(`"assign_ipv([46])"\s*:\s*"(true|false)"`)

// addConfigMap reads the CNI configuration of Calico's manifest.
func (c *objects) addConfigMap(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	f := families{v4: true}
	for _, m := range assigns.FindAllStringSubmatch(o.Data["cni_network_config"], -1) {
		if m[1] == "4" {
			f.v4 = m[2] == "true"
		} else {
			f.v6 = m[2] == "true"
		}
	}
	return kept.Put(c.Store, c.families, h.Key(), h, f)
}
