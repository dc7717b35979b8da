package calico

import (
	"net/netip"
	"strings"

	"ipamsim/model/route"
	"ipamsim/reports/layout"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/kept"
)

// record is Calico's of a scenario: what was read, and what had to be concluded because it
// was not.
type record struct {
	*dump.Draft
	c *objects

	datastore  string
	fabric     route.Fabric
	fam        printed.CNI
	blocks     map[string]*blockSpec
	pools      map[string]*poolSpec
	affinities []affinitySpec
	handles    map[string]*handleSpec
	config     *configSpec
	reserving  map[string]*reservationSpec
}

func (c *objects) draft(d *dump.Draft) (*dump.Record, error) {
	r := &record{
		Draft: d, c: c, blocks: map[string]*blockSpec{}, pools: map[string]*poolSpec{}, handles: map[string]*handleSpec{},
		reserving: map[string]*reservationSpec{},
	}
	r.take()
	d.Selective = d.Selective || r.selective()
	return &dump.Record{
		Claims: r.claims, Write: r.write, Settings: r.writeSettings,
		Primary: r.primary, Container: r.container, Pods: r.fromEndpoints, Nodes: r.hosts, Settle: r.settle, Datastore: r.datastore, Spec: r.spec,
		Needs: r.needs, Unjudged: r.unrecorded,
		Names: r.names, Ranges: r.ranges, Rename: r.rename,
	}, nil
}

// hosts are the nodes that have a block.
func (d *record) hosts() (out []string) {
	for _, a := range d.affinities {
		if a.Type == "host" {
			out = append(out, a.Node)
		}
	}
	return out
}

func (d *record) spec(spec map[string]any) {
	spec["datastore"] = d.datastore
	if f := d.fabric; f.Topology != "" || f.AS != 0 || len(f.Reflectors) > 0 {
		spec["fabric"] = f
	}
}

// take takes over Calico's record, and concludes what was not dumped of it from
// what was.
func (d *record) take() {
	c := d.c
	for _, name := range c.pools.Keys() {
		s := c.pools[name].Value
		d.pools[name] = &s
		d.Origin("IPPool "+name, c.pools[name].From)
	}
	for _, name := range c.reservations.Keys() {
		s := c.reservations[name].Value
		d.reserving[name] = &s
		d.Origin("IPReservation "+name, c.reservations[name].From)
	}
	for _, key := range c.blocks.Keys() {
		b := c.blocks[key].Value
		d.blocks[key] = &b
		d.Origin("IPAMBlock "+BlockName(b.CIDR), c.blocks[key].From)
	}
	for _, key := range c.affinities.Keys() {
		d.affinities = append(d.affinities, c.affinities[key].Value)
		d.Origin("BlockAffinity "+c.affinities[key].Value.name(), c.affinities[key].From)
	}
	for _, id := range c.handles.Keys() {
		h := c.handles[id].Value
		d.handles[id] = &h
		d.Origin("IPAMHandle "+strings.ToLower(id), c.handles[id].From)
	}
	switch d.datastore = "kubernetes"; {
	case c.etcd:
		d.datastore = "etcdv3"
	case !c.kdd:
		d.Unknown("Calico's datastore: the dump does not show whether it is etcd or Kubernetes; Kubernetes is assumed")
	}
	d.workloads()
	if len(d.blocks) == 0 {
		d.fromTables()
	}
	d.concludeHandles()
	if len(d.affinities) == 0 && len(d.blocks) > 0 && !c.SawKind("BlockAffinity") {
		for _, key := range kept.Keys(d.blocks) {
			if kind, host, ok := strings.Cut(deref(d.blocks[key].Affinity), ":"); ok {
				d.affinities = append(d.affinities, affinitySpec{State: "confirmed", Node: host, Type: kind, CIDR: d.blocks[key].CIDR, Deleted: false})
			}
		}
		d.Unknown("no BlockAffinities in the dump: derived from the blocks, so stale ones cannot be detected")
	}
}

// concludeHandles makes the handles that blocks name, if none was dumped.
func (d *record) concludeHandles() {
	if len(d.handles) > len(d.c.tables.Leaked) || d.SawKind("IPAMHandle") {
		return
	}
	for _, key := range kept.Keys(d.blocks) {
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
	if len(d.handles) > len(d.c.tables.Leaked) {
		d.Unknown("no IPAMHandles in the dump: derived from the blocks, so leftover or wrong ones cannot be detected")
	}
}

// settle adopts the configuration other than pools, and reports what is unknown.
func (d *record) settle() {
	d.reportUnknownHolders()
	c := d.c
	if s := c.config["default"]; s != nil {
		v := s.Value
		d.config = &v
		d.Origin("IPAMConfig default", s.From)
	} else if v, ok := c.tables.Config["StrictAffinity"]; ok {
		d.config = &configSpec{StrictAffinity: v == "true", AutoAllocateBlocks: c.tables.Config["AutoAllocateBlocks"] == "true"}
		d.config.MaxBlocksPerHost = atoi(c.tables.Config["MaxBlocksPerHost"])
	} else if !c.Saw("ipamconfigs." + group) {
		d.Unknown("no IPAMConfig in the dump: Calico's defaults are assumed (no StrictAffinity, blocks are claimed automatically)")
	}
	for _, name := range c.controllers.Keys() {
		d.Origin("KubeControllersConfiguration "+name, c.controllers[name].From)
	}
	var why string
	if d.fabric, why = c.fabric(); why != "" && !(len(c.bgp)+len(c.peers) == 0 && d.peerless()) {
		d.Unknown("%s", why)
	}
	if f := c.families["kube-system/calico-config"]; f != nil {
		d.fam = f.Value
		return
	}
	for _, p := range d.Running {
		for _, a := range p.Addrs {
			d.fam.V4, d.fam.V6 = d.fam.V4 || a.Is4(), d.fam.V6 || a.Is6()
		}
	}
	for _, p := range d.pools {
		if x, err := netip.ParsePrefix(p.CIDR); err == nil && len(d.Running) == 0 {
			d.fam.V4, d.fam.V6 = d.fam.V4 || x.Addr().Is4(), d.fam.V6 || x.Addr().Is6()
		}
	}
	if d.fam.V6 {
		d.Unknown("no ConfigMap kube-system/calico-config in the dump: whether pods get IPv6 addresses is derived from the pods that have them")
	}
}

// reportUnknownHolders reports that the holders of addresses are unknown.
func (d *record) reportUnknownHolders() {
	if len(d.blocks) > 0 || d.SawKind("IPAMBlock") {
		return
	}
	n := 0
	for _, p := range d.Pods {
		if len(p.Value.IPs) > 0 && !p.Value.HostNetwork && !p.Value.Finished() {
			n++
		}
	}
	d.Unknown("no IPAMBlocks in the dump: the holders of Calico's addresses are unknown, and %s without one here. Collect with kubectl get ipamblocks, with etcd calicoctl ipam show --show-blocks and --show-borrowed", layout.Count(n, "pod is", "pods are"))
}

// peerless reports whether the cluster is known to have no objects about BGP, or needs
// none: nothing is assumed then.
func (d *record) peerless() bool {
	saw := func(plural string) bool { return d.Saw(plural + "." + group) }
	return !d.announced() || saw("bgpconfigurations") && saw("bgppeers")
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

// BlockName is what Kubernetes calls the block of a CIDR: 10-0-0-0-26.
//
// Source: libcalico-go/lib/names, CIDRToName (v3.31).
func BlockName(cidr string) string {
	return strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(cidr)
}
