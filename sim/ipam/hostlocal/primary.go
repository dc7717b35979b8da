package hostlocal

import (
	"encoding/json"
	"errors"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// confKey is where the ConfigMaps of network daemons (kube-flannel-cfg, kube-router-cfg)
// have the CNI configuration that they write on each node.
const confKey = "cni-conf.json"

// primary reads the network of all pods from such a ConfigMap; config is its configuration with all
// plugins. It returns ipam.ErrNoPrimary if there is none.
func primary(objects []ipam.Object) (n model.Network, config json.RawMessage, err error) {
	for _, o := range objects {
		var m corev1.ConfigMap
		if o.Kind != "ConfigMap" || json.Unmarshal(o.Body, &m) != nil || m.Data[confKey] == "" {
			continue
		}
		bad := func(err error) error { return &ipam.ObjectError{Object: o, Field: "data", Err: err} }
		p, err := plugin(json.RawMessage(m.Data[confKey]), networkName)
		if err != nil {
			return n, nil, bad(err)
		}
		if p == nil {
			return n, nil, bad(errors.New(confKey + `: no plugin has "ipam": {"type": "host-local"}`))
		}
		place, err := primaryPlace(p, objects)
		if err != nil {
			return n, nil, bad(err)
		}
		return place.Network, json.RawMessage(m.Data[confKey]), nil
	}
	return n, nil, ipam.ErrNoPrimary
}

// networkName is the pods' network where its configuration has no name.
const networkName = "pods"

// primaryPlace is where the addresses of the pods' network are kept.
func primaryPlace(p object, objects []ipam.Object) (Place, error) {
	name, _ := p["name"].(string)
	if ranged(p) {
		return placeOf(name, p)
	}
	n := model.Network{Key: name, Name: name}
	for _, all := range podCIDRs(objects) {
		if all.IsValid() {
			n.Ranges = append(n.Ranges, model.Range{Prefix: all, Start: all.Addr(), End: model.LastAddr(all)})
			n.Slice = all.Bits()
		}
	}
	if len(n.Ranges) == 0 {
		return Place{}, errors.New(confKey + ": ipam.ranges: missing, and no Node has spec.podCIDRs")
	}
	return Place{Network: n, Dir: dirOf(p), PodCIDRs: true}, nil
}

// podCIDRs are the smallest ranges that hold those of all nodes: of IPv4 and of IPv6.
func podCIDRs(objects []ipam.Object) (out [2]netip.Prefix) {
	for _, o := range objects {
		var n corev1.Node
		if o.Kind != "Node" || json.Unmarshal(o.Body, &n) != nil {
			continue
		}
		for _, text := range n.Spec.PodCIDRs {
			c, err := netip.ParsePrefix(text)
			if err != nil {
				continue // the API server says so
			}
			all := &out[0]
			if c.Addr().Is6() {
				all = &out[1]
			}
			if !all.IsValid() {
				*all = c.Masked()
			}
			for !all.Contains(c.Addr()) || c.Bits() < all.Bits() {
				*all, _ = all.Addr().Prefix(all.Bits() - 1) // ends with /0
			}
		}
	}
	return out
}
