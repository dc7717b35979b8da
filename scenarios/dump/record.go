package dump

import (
	"net/netip"
	"strings"
)

// record takes over Calico's record, and concludes what was not dumped of it from
// what was.
func (d *draft) record() {
	c := d.Cluster
	for _, name := range c.pools.keys() {
		s := c.pools[name].value
		d.pools[name] = &s
		d.origin("IPPool "+name, c.pools[name].from)
	}
	for _, name := range c.reservations.keys() {
		s := c.reservations[name].value
		d.reserving[name] = &s
		d.origin("IPReservation "+name, c.reservations[name].from)
	}
	for _, key := range c.blocks.keys() {
		b := c.blocks[key].value
		d.blocks[key] = &b
		d.origin("IPAMBlock "+blockName(b.CIDR), c.blocks[key].from)
	}
	for _, key := range c.affinities.keys() {
		d.affinities = append(d.affinities, c.affinities[key].value)
		d.origin("BlockAffinity "+affinityName(c.affinities[key].value), c.affinities[key].from)
	}
	for _, id := range c.handles.keys() {
		h := c.handles[id].value
		d.handles[id] = &h
		d.origin("IPAMHandle "+strings.ToLower(id), c.handles[id].from)
	}
	switch d.datastore = "kubernetes"; {
	case c.etcd:
		d.datastore = "etcdv3"
	case !c.kdd:
		d.unknown("Calico's datastore: nothing says whether it is etcd or Kubernetes; Kubernetes is assumed")
	}
	if len(d.blocks) == 0 {
		d.fromTables()
	}
	d.concludeHandles()
	if len(d.affinities) == 0 && len(d.blocks) > 0 && !c.sawKind("BlockAffinity") {
		for _, key := range d.blockKeys() {
			if kind, host, ok := strings.Cut(deref(d.blocks[key].Affinity), ":"); ok {
				d.affinities = append(d.affinities, affinitySpec{State: "confirmed", Node: host, Type: kind, CIDR: d.blocks[key].CIDR, Deleted: false})
			}
		}
		d.unknown("no BlockAffinities in the dump: concluded from the blocks, so that stale ones cannot be told")
	}
}

// concludeHandles makes the handles that blocks name, if none was dumped.
func (d *draft) concludeHandles() {
	if len(d.handles) > len(d.tables.leaked) || d.sawKind("IPAMHandle") {
		return
	}
	for _, key := range d.blockKeys() {
		for _, cl := range blockClaims(d.blocks[key]) {
			if cl.handle == "" {
				continue
			}
			h := d.handles[cl.handle]
			if h == nil {
				h = &handleSpec{HandleID: cl.handle, Block: map[string]int{}}
				d.handles[cl.handle] = h
			}
			h.Block[key]++
		}
	}
	if len(d.handles) > len(d.tables.leaked) {
		d.unknown("no IPAMHandles in the dump: concluded from the blocks, so that leftover or wrong ones cannot be told")
	}
}

// settings are what is configured beside the pools.
func (d *draft) settings() {
	c := d.Cluster
	if s := c.config["default"]; s != nil {
		v := s.value
		if d.config = &v; v.MaxBlocksPerHost > 0 && !v.StrictAffinity {
			// Calico's clients refuse to store this; kubectl does not.
			// Source: libcalico-go/lib/ipam, SetIPAMConfig (v3.31).
			d.left("maxBlocksPerHost %d of IPAMConfig: it is for strictAffinity only", v.MaxBlocksPerHost)
			v.MaxBlocksPerHost = 0
		}
		d.origin("IPAMConfig default", s.from)
	} else if v, ok := c.tables.config["StrictAffinity"]; ok {
		d.config = &configSpec{StrictAffinity: v == "true", AutoAllocateBlocks: c.tables.config["AutoAllocateBlocks"] == "true"}
		d.config.MaxBlocksPerHost = atoi(c.tables.config["MaxBlocksPerHost"])
	} else if !c.saw(resourceOf("ipamconfigs." + calicoGroup)) {
		d.unknown("no IPAMConfig in the dump: Calico's defaults are assumed (no StrictAffinity, blocks are claimed automatically)")
	}
	for _, name := range c.controllers.keys() {
		d.origin("KubeControllersConfiguration "+name, c.controllers[name].from)
	}
	var why string
	if d.fabric, why = c.fabric(); why != "" && !(len(c.bgp)+len(c.peers) == 0 && d.peerless()) {
		d.unknown("%s", why)
	}
	if f := c.families["kube-system/calico-config"]; f != nil {
		d.fam = f.value
		return
	}
	for _, p := range d.running {
		for _, a := range p.addrs {
			d.fam.v4, d.fam.v6 = d.fam.v4 || a.Is4(), d.fam.v6 || a.Is6()
		}
	}
	for _, p := range d.pools {
		if x, err := netip.ParsePrefix(p.CIDR); err == nil && len(d.running) == 0 {
			d.fam.v4, d.fam.v6 = d.fam.v4 || x.Addr().Is4(), d.fam.v6 || x.Addr().Is6()
		}
	}
	if d.fam.v6 {
		d.unknown("no ConfigMap kube-system/calico-config in the dump: that pods get IPv6 addresses is concluded from those that have them")
	}
}

// peerless reports whether the cluster is known to have no objects about BGP, or needs
// none: nothing is assumed then.
func (d *draft) peerless() bool {
	saw := func(plural string) bool { return d.Cluster.saw(resourceOf(plural + "." + calicoGroup)) }
	return !d.announced() || saw("bgpconfigurations") && saw("bgppeers")
}

// reservedRanges takes over Whereabouts' reservations across ranges.
func (d *draft) reservedRanges() {
	c := d.Cluster
	for _, key := range c.rangeReserved.keys() {
		r := c.rangeReserved[key].value
		d.reserved[here(key)] = &r
		d.origin("OverlappingRangeIPReservation "+here(key), c.rangeReserved[key].from)
	}
	if len(d.reserved) > 0 || c.sawKind("OverlappingRangeIPReservation") {
		return
	}
	for _, key := range keysOf(d.ranged) {
		n := d.networkOf(key)
		if n == nil || !n.overlap {
			continue
		}
		namespace := whereaboutsNamespace
		first, _ := netip.ParsePrefix(d.ranged[key].Range)
		for k, a := range d.ranged[key].Allocations {
			addr := offset(first.Addr(), uint64(atoi(k)))
			name := normalized(addr)
			if n.name != "" {
				name = n.name + "-" + name
			}
			d.reserved[namespace+"/"+name] = &rangeReservation{ContainerID: a.ID, PodRef: a.PodRef, IfName: a.IfName}
		}
	}
	if len(d.reserved) > 0 {
		d.unknown("no OverlappingRangeIPReservations in the dump: concluded from the pools, so that leftover or missing ones cannot be told")
	}
}

func (c *Cluster) sawKind(kind string) bool {
	for k := range c.read {
		if k == kind || strings.HasPrefix(k, kind+".") {
			return true
		}
	}
	return false
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func atoi(s string) int {
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' || n > 1<<50 {
			return 0
		}
		n = 10*n + int(r-'0')
	}
	return n
}

// blockName is what Kubernetes calls a block: 10-0-0-0-26.
//
// Source: libcalico-go/lib/names, CIDRToName (v3.31).
func blockName(cidr string) string {
	return strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(cidr)
}
