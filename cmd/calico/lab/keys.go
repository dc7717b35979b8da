package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"ipamsim/model"
	"ipamsim/model/route"
)

// speaker is what a cluster says about one node's BGP.
type speaker struct {
	name    string
	addr    netip.Prefix // with its subnet's length
	as      uint32       // 0: the cluster's
	cluster string       // its cluster id if it is a route reflector
	peers   []peering
}

// peering is one BGPPeer as it applies to a node.
type peering struct {
	addr         netip.Addr
	as           uint32
	cluster      string // the peer's cluster id if it is a route reflector
	node         bool   // the peer is a node of the cluster
	allowLocalAS int32
}

// cluster is what every node's configuration is rendered from.
type cluster struct {
	as         uint32
	mesh       bool // node-to-node mesh
	pools      []model.IPPool
	affinities []model.Affinity
	speakers   []speaker
}

// peerValue is the value of a peer's key.
//
// Source: confd/pkg/backends/calico/client.go, bgpPeer.
type peerValue struct {
	IP           string `json:"ip"`
	AS           string `json:"as_num"`
	LocalAS      string `json:"local_as_num"`
	Cluster      string `json:"rr_cluster_id"`
	SourceAddr   string `json:"source_addr"`
	RestartTime  string `json:"restart_time"`
	Node         bool   `json:"calico_node"`
	AllowLocalAS int32  `json:"num_allow_local_as"`
	Port         uint16 `json:"port"`
	KeepNextHop  bool   `json:"keep_next_hop"`
	NextHopMode  string `json:"next_hop_mode"`
	TTLSecurity  uint8  `json:"ttl_security"`
	PassiveMode  bool   `json:"passive_mode"`
	Local        bool   `json:"local_bgp_peer"`
	Password     string `json:"password"`
}

// poolValue is the value of a pool's key.
//
// Source: libcalico-go/lib/backend/model/ippool.go, IPPool.
type poolValue struct {
	CIDR     string `json:"cidr"`
	IPIP     string `json:"ipip"` // its tunnel device
	IPIPMode string `json:"ipip_mode"`
	VXLAN    string `json:"vxlan_mode"`
	NoExport bool   `json:"disableBGPExport"`
}

// modes are upstream's words in the datastore for those of an IPPool resource.
//
// Source: libcalico-go/lib/backend/encap.
var modes = map[string]string{"": "", "Never": "", "Always": "always", "CrossSubnet": "cross-subnet"}

// keys are confd's keys for one node of the cluster: what its daemon would have
// cached after reading the datastore.
//
// Pending affinities are left out, as confd does: to it they are deleted.
// Source: confd/pkg/backends/calico/client.go, onUpdates.
func (c cluster) keys(me speaker) (map[string]string, error) {
	keys := map[string]string{}
	keys["/calico/bgp/v1/global/as_num"] = strconv.FormatUint(uint64(c.as), 10)
	keys["/calico/bgp/v1/global/node_mesh"] = fmt.Sprintf(`{"enabled":%t}`, c.mesh)
	for _, s := range c.speakers {
		host := "/calico/bgp/v1/host/" + s.name
		f := familyOf(s.addr.Addr()).number
		keys[host+"/ip_addr_v4"] = route.RouterOf(s.addr.Addr()).String() // the router id
		keys[host+"/ip_addr_v"+f] = s.addr.Addr().String()
		keys[host+"/network_v"+f] = s.addr.Masked().String()
		keys[host+"/rr_cluster_id"] = s.cluster
		if s.as != 0 {
			keys[host+"/as_num"] = strconv.FormatUint(uint64(s.as), 10)
		}
	}
	for _, p := range me.peers {
		v, err := json.Marshal(peerValue{
			IP: p.addr.String(), AS: strconv.FormatUint(uint64(p.as), 10), LocalAS: "0", Cluster: p.cluster,
			SourceAddr: "UseNodeIP", Node: p.node, AllowLocalAS: p.allowLocalAS,
		})
		if err != nil {
			return nil, err
		}
		keys["/calico/bgp/v1/host/"+me.name+"/peer_v"+familyOf(p.addr).number+"/"+p.addr.String()] = string(v)
	}
	for _, p := range c.pools {
		v := poolValue{CIDR: p.Prefix.String(), IPIPMode: modes[p.IPIP], VXLAN: modes[p.VXLAN], NoExport: p.NoExport}
		if v.IPIPMode != "" {
			v.IPIP = "tunl0"
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		keys["/calico/v1/ipam/v"+familyOf(p.Prefix.Addr()).number+"/pool/"+dashed(p.Prefix)] = string(b)
	}
	for _, a := range c.affinities {
		if a.Node == me.name && a.State != model.Pending {
			keys["/calico/ipam/v2/host/"+me.name+"/ipv"+familyOf(a.Block.Addr()).number+"/block/"+dashed(a.Block)] = fmt.Sprintf(`{"state":%q}`, a.State)
		}
	}
	return keys, nil
}

// dashed is a prefix as a part of a key: 10.64.75.0-26.
func dashed(p netip.Prefix) string { return strings.ReplaceAll(p.String(), "/", "-") }
