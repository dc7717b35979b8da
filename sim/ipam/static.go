package ipam

import (
	"encoding/json"
	"net/netip"
)

// PastIPAM are the addresses that a pod's annotation sets without the manager, which does not know
// them.
//
// Source: cni-plugin/pkg/k8s/k8s.go, overrideIPAMResult (v3.31).
func PastIPAM(annotation string) []netip.Addr {
	var ips []string
	if json.Unmarshal([]byte(annotation), &ips) != nil {
		return nil
	}
	var out []netip.Addr
	for _, s := range ips {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, a.Unmap())
		}
	}
	return out
}

// Static are the addresses that a CNI configuration, or one plugin of its list, gives to every pod,
// without the manager.
func Static(config json.RawMessage) []netip.Addr {
	type plugin struct {
		IPAM struct {
			Addresses []struct {
				Address string `json:"address"`
			} `json:"addresses"`
		} `json:"ipam"`
	}
	var conf struct {
		plugin
		Plugins []plugin `json:"plugins"`
	}
	if json.Unmarshal(config, &conf) != nil {
		return nil
	}
	var out []netip.Addr
	for _, p := range append(conf.Plugins, conf.plugin) {
		for _, a := range p.IPAM.Addresses {
			if p, err := netip.ParsePrefix(a.Address); err == nil {
				out = append(out, p.Addr())
			}
		}
	}
	return out
}
