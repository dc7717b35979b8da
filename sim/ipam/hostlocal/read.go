package hostlocal

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"path"
	"slices"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// read is the record of a cluster of manifests: what is on the disks of nodes at the start.
func read(objects []ipam.Object, networks []model.Network) (model.Snapshot, error) {
	var places []Place
	for _, n := range networks {
		p, err := plugin(configOf(objects, n.Key), path.Base(n.Key))
		if p == nil || err != nil {
			continue // another plugin's
		}
		place, err := found(n, p)
		if err != nil {
			return model.Snapshot{}, err
		}
		places = append(places, place)
	}
	return ReadRecord(objects, places)
}

// configOf is the configuration of a network among manifests; nil: there is none.
func configOf(objects []ipam.Object, key string) json.RawMessage {
	for _, o := range objects {
		var nad struct{ Spec struct{ Config string } }
		if o.Kind == "NetworkAttachmentDefinition" && o.Namespace+"/"+o.Name == key && json.Unmarshal(o.Body, &nad) == nil {
			return json.RawMessage(nad.Spec.Config)
		}
	}
	if n, config, err := primary(objects); err == nil && n.Key == key {
		return config
	}
	return nil
}

// adopts adds the files of a sandbox that runs already to a record: those that instance.adopt writes.
func adopts(s *model.Snapshot, call ipam.Call, addrs []netip.Addr) {
	p, err := plugin(call.Config, path.Base(call.Network))
	if p == nil || err != nil {
		return
	}
	name, _ := p["name"].(string)
	for _, a := range addrs {
		there := func(c model.Claim) bool { return c.Node == call.Node && c.Network == name && c.Addr == a }
		if slices.ContainsFunc(s.Claims, there) {
			continue
		}
		c := model.Claim{Addr: a, Node: call.Node, Container: call.Container, Interface: call.Interface, Network: name}
		for _, pool := range s.Pools {
			if pool.Node == call.Node && pool.Network == name && pool.Range.Contains(a) {
				c.Pool = pool.Name
			}
		}
		s.Claims = append(s.Claims, c)
	}
	slices.SortStableFunc(s.Claims, func(a, b model.Claim) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Addr.Compare(b.Addr)) })
}
