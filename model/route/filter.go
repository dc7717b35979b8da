package route

import (
	"net/netip"

	"ipamsim/model"
)

// covers reports whether p is outer or lies inside it: BIRD's net ~ outer.
func covers(outer, p netip.Prefix) bool {
	return outer.Bits() <= p.Bits() && outer.Contains(p.Addr())
}

// Exports is the filter between a Calico node's BIRD and its peers. It exports nothing of a pool
// with disableBGPExport; the node's own confirmed blocks exactly, and nothing inside them; and
// everything else in a pool. Because of the last rule a borrower announces the borrowed address,
// and a node with a stale affinity announces a block that it does not own.
//
// Source: confd/etc/calico/confd/templates, bird_ipam.cfg.template
// (calico_export_to_bgp_peers) and bird_aggr.cfg.template (calico_aggr), v3.31.
func Exports(pools []model.IPPool, own []netip.Prefix, dst netip.Prefix) bool {
	for i := range pools {
		if pools[i].NoExport && covers(pools[i].Prefix, dst) {
			return false
		}
	}
	for _, block := range own {
		if block == dst {
			return true
		}
		if covers(block, dst) {
			return false
		}
	}
	for i := range pools {
		if !pools[i].NoExport && covers(pools[i].Prefix, dst) {
			return true
		}
	}
	return false
}

// programs reports whether BIRD writes its routes to dst into the kernel, and if
// so through which tunnel device: routes of VXLAN pools are Felix's.
//
// Source: bird_ipam.cfg.template, calico_kernel_programming. The first pool that
// contains dst decides; pools do not overlap.
func programs(pools []model.IPPool, dst netip.Prefix) (p *model.IPPool, ok bool) {
	for i := range pools {
		if covers(pools[i].Prefix, dst) {
			return &pools[i], !encapsulates(pools[i].VXLAN)
		}
	}
	return nil, true
}

// encapsulates reports whether a mode of IPIP or VXLAN is switched on.
func encapsulates(mode string) bool { return mode == always || mode == crossSubnet }

// The modes, in the words of IPPool.
const (
	always      = "Always"
	crossSubnet = "CrossSubnet"
)
