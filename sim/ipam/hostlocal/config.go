package hostlocal

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/containernetworking/cni/pkg/utils"

	"ipamsim/model"
	reference "ipamsim/model/reference/hostlocal"
)

// object is a part of a configuration.
type object = map[string]any

// plugin is the configuration of the first plugin that uses host-local, as libcni passes it on; nil
// if there is none. One without a name gets fallback, as with Multus.
func plugin(raw json.RawMessage, fallback string) (object, error) {
	var c object
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if name, _ := c["name"].(string); name == "" {
		c["name"] = fallback
	}
	all, isList := c["plugins"].([]any)
	if !isList {
		all = []any{c}
	}
	for _, p := range all {
		p, _ := p.(object)
		section, _ := p["ipam"].(object)
		if section["type"] != Name {
			continue
		}
		if p["name"] = c["name"]; c["cniVersion"] != nil {
			p["cniVersion"] = c["cniVersion"]
		}
		return p, nil
	}
	return nil, nil
}

// ranged reports whether a plugin's configuration says which ranges it is.
func ranged(p object) bool {
	section, _ := p["ipam"].(object)
	return section["subnet"] != nil || section["ranges"] != nil
}

// WithSubnets is a plugin's configuration in which host-local has a range set for each subnet
// instead of its own ranges.
func WithSubnets(config json.RawMessage, subnets []string) ([]byte, error) {
	p := object{}
	if err := json.Unmarshal(config, &p); err != nil {
		return nil, err
	}
	section, _ := p["ipam"].(object)
	if section == nil {
		section = object{}
	}
	var sets [][]object
	for _, s := range subnets {
		sets = append(sets, []object{{"subnet": s}})
	}
	section["type"], section["ranges"], p["ipam"] = Name, sets, section
	return json.Marshal(p)
}

// network is the policy of a NetworkAttachmentDefinition's configuration. ok is false, without an
// error, if it does not use host-local.
func network(key string, raw json.RawMessage) (n model.Network, ok bool, err error) {
	p, err := plugin(raw, path.Base(key))
	if p == nil || err != nil {
		return n, false, nil // the reader of the manifests reports this error with more detail
	}
	if kind, _ := p["type"].(string); kind == "" {
		return n, true, errors.New("type: missing: the configuration names no CNI plugin")
	}
	if !ranged(p) {
		return n, true, errors.New(`ipam.ranges: missing, want e.g. [[{"subnet": "10.1.0.0/24"}]]`)
	}
	place, err := placeOf(key, p)
	place.Network.Local = slices.Contains(local, p["type"].(string))
	return place.Network, true, err
}

// found is where the addresses of a network are kept that was read before.
func found(n model.Network, p object) (place Place, err error) {
	if ranged(p) {
		place, err = placeOf(n.Key, p)
	} else {
		place = Place{Dir: dirOf(p), PodCIDRs: true}
	}
	place.Network = n
	return place, err
}

// dirOf is where a plugin's configuration has host-local keep its addresses.
func dirOf(p object) string {
	name, _ := p["name"].(string)
	section, _ := p["ipam"].(object)
	if dir, _ := section["dataDir"].(string); dir != "" {
		return path.Join(dir, name)
	}
	return DataDir(name)
}

// local are the plugins whose interfaces are connected only within their node.
var local = []string{"bridge", "ptp"}

// placeOf reads a plugin's configuration: the policy, and where its addresses are kept.
func placeOf(key string, p object) (Place, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return Place{}, err
	}
	c, err := reference.Read(text)
	if err != nil {
		return Place{}, err
	}
	if e := utils.ValidateNetworkName(c.Name); e != nil {
		return Place{}, fmt.Errorf("name %q: %s", c.Name, e.Msg)
	}
	n := model.Network{Key: key, Name: c.Name}
	for i, set := range c.Sets {
		if len(set) > 1 {
			return Place{}, fmt.Errorf("ipam.ranges[%d]: %d ranges, want one: the simulator supports one range in a set", i, len(set))
		}
		n.Ranges = append(n.Ranges, set[0].Policy())
	}
	n.Slice = n.Ranges[0].Prefix.Bits()
	return Place{Network: n, Dir: dirOf(p)}, nil
}
