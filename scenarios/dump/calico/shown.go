package calico

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/reports/layout"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/kept"
)

// fromTables makes pools and blocks of what calicoctl ipam show printed. A block's
// addresses are those of borrowed lines and of pods; how many more are in use is
// said, and nothing is made up for them.
func (d *record) fromTables() {
	t := &d.c.tables
	if len(t.Blocks)+len(t.Borrowed)+len(t.Checked) == 0 {
		return
	}
	used := map[netip.Prefix]printed.Usage{}
	for _, u := range t.Blocks {
		if old, ok := used[u.CIDR]; ok { // show and check print it both
			u.InUse, u.Affinity = max(u.InUse, old.InUse), cmp.Or(u.Affinity, old.Affinity)
		}
		used[u.CIDR] = u
	}
	for _, b := range t.Borrowed {
		if _, ok := used[b.Block]; !ok {
			used[b.Block] = printed.Usage{CIDR: b.Block, InUse: -1, From: b.From}
		}
	}
	checked := d.allocations(used)
	for _, id := range t.Leaked {
		d.handles[id] = &handleSpec{HandleID: id, Block: map[string]int{}}
	}
	var cidrs []netip.Prefix
	for p := range used {
		cidrs = append(cidrs, p)
	}
	slices.SortFunc(cidrs, netip.Prefix.Compare)
	holders := d.holders()
	missing, noOwner := 0, 0
	for _, p := range cidrs {
		if p.Addr().BitLen()-p.Bits() > 16 {
			continue
		}
		b, known := d.shownBlock(p, holders, checked[p])
		if b.Affinity == nil {
			noOwner++
		}
		if n := used[p].InUse; n > known {
			missing += n - known
		}
		d.blocks[p.String()] = b
		d.Origin("IPAMBlock "+BlockName(p.String()), used[p].From)
	}
	d.shownPools(cidrs)
	d.Unknown("no IPAMBlocks in the dump: %s derived from the allocations that calicoctl printed", layout.Count(len(d.blocks), "block is", "blocks are"))
	if missing > 0 {
		d.Unknown("%s in use with an unknown holder: not in the scenario", layout.Count(missing, "address is", "addresses are"))
	}
	if noOwner > 0 {
		d.Unknown("%s: their holder is unknown", layout.Plural(noOwner, "block"))
	}
}

// holder is the holder of an address according to tables, endpoints and pods: a pod or, with a tunnel,
// the node itself.
type holder struct{ namespace, pod, node, container, tunnel string }

func (d *record) holders() map[netip.Addr]holder {
	out := map[netip.Addr]holder{}
	for _, ref := range d.c.endpoints.Keys() {
		e := d.c.endpoints[ref].Value
		for _, a := range kept.AddrsIn(e.IPs) {
			out[a] = holder{namespace: e.Namespace, pod: e.Pod, node: e.Node, container: e.Container}
		}
	}
	for _, ref := range d.Pods.Keys() {
		p := &d.Pods[ref].Value
		if p.HostNetwork || p.Finished() || p.Node == "" {
			continue
		}
		for _, a := range kept.AddrsIn(p.IPs) {
			h := holder{namespace: p.Namespace, pod: p.Name, node: p.Node, container: p.Annotations[containerNote]}
			if h.container == "" {
				h.container = out[a].container
			}
			out[a] = h
		}
	}
	for a, all := range d.c.tables.Checked {
		out[a] = holderOf(all[0])
	}
	for _, b := range d.c.tables.Borrowed {
		h := out[b.Addr]
		if ns, name, ok := strings.Cut(b.For, "/"); ok && h.pod == "" {
			h.namespace, h.pod = ns, name
		}
		if _, ok := tunnelTypes[b.Type]; ok {
			h.tunnel = b.Type
		}
		h.node = b.Node
		out[b.Addr] = h
	}
	return out
}

func holderOf(x printed.Allocation) holder {
	h := holder{namespace: x.Namespace, pod: x.Pod, node: x.Node}
	if id, ok := strings.CutPrefix(x.Handle, podHandle); ok {
		h.container = id
	}
	return h
}

// tunnelTypes are the types of allocations for nodes' own devices, and how the handles
// of these begin.
//
// Source: libcalico-go/lib/ipam, AttributeType…; node/pkg/allocateip,
// generateHandleAndAttributes (v3.31).
var tunnelTypes = map[string]string{
	"ipipTunnelAddress": "ipip-tunnel-addr-", "vxlanTunnelAddress": "vxlan-tunnel-addr-", "vxlanV6TunnelAddress": "vxlan-v6-tunnel-addr-",
	"wireguardTunnelAddress": "wireguard-tunnel-addr-", "wireguardV6TunnelAddress": "wireguard-v6-tunnel-addr-",
}

// handle returns the handle of the claim, made up for a pod whose container is unknown; "" if the
// holder is neither a pod nor a tunnel.
func (h *holder) handle() string {
	switch {
	case h.tunnel != "":
		return tunnelTypes[h.tunnel] + h.node
	case h.pod == "":
		return ""
	case h.container == "":
		return podHandle + fmt.Sprintf("imported-%s-%s", h.namespace, h.pod)
	}
	return podHandle + h.container
}

// shownBlock is a block with the addresses whose holders are known, and how many
// these are.
func (d *record) shownBlock(p netip.Prefix, holders map[netip.Addr]holder, checked map[netip.Addr]printed.Allocation) (*blockSpec, int) {
	size := 1 << (p.Addr().BitLen() - p.Bits())
	b := &blockSpec{CIDR: p.String(), Allocations: make([]*int, size)}
	if owner := d.owner(p, holders, checked); owner != "" {
		owner = "host:" + owner
		b.Affinity = &owner
	}
	known := 0
	for i := range size {
		a := alias.Offset(p.Addr(), uint64(i))
		h, ok := holders[a]
		x, isChecked := checked[a]
		if isChecked {
			h.namespace, h.pod, h.node, h.container = x.Namespace, x.Pod, x.Node, holderOf(x).container
		} else if len(d.c.tables.Checked[a]) > 0 {
			ok = false // it is another block's
		}
		if !ok {
			b.Unallocated = append(b.Unallocated, i)
			continue
		}
		known++
		at := attribute{Secondary: map[string]string{"node": h.node}}
		handle := h.handle()
		switch {
		case h.tunnel != "":
			at.Secondary["type"] = h.tunnel
		case h.pod != "":
			at.Secondary["namespace"], at.Secondary["pod"] = h.namespace, h.pod
		}
		if isChecked {
			if handle = x.Handle; x.Type != "" {
				at.Secondary["type"] = x.Type
			}
		}
		if handle != "" {
			at.Handle = &handle
		}
		n := len(b.Attributes)
		b.Attributes, b.Allocations[i] = append(b.Attributes, at), &n
	}
	return b, known
}

// owner is whose a block is: as a line of --show-borrowed says, or the one node
// whose pods have addresses of it and have not borrowed them.
func (d *record) owner(p netip.Prefix, holders map[netip.Addr]holder, checked map[netip.Addr]printed.Allocation) string {
	t := &d.c.tables
	lent := map[netip.Addr]bool{}
	for _, u := range t.Blocks {
		if u.CIDR == p && u.Affinity != "" {
			return strings.TrimPrefix(u.Affinity, "host:")
		}
	}
	for _, b := range t.Borrowed {
		if b.Block == p && b.Owner != "" {
			return b.Owner
		}
		lent[b.Addr] = true
	}
	for a := range t.Checked {
		x, ok := checked[a]
		lent[a] = lent[a] || x.Borrowed || !ok
	}
	if !t.ShownBorrowed && len(t.Checked) == 0 {
		return ""
	}
	owner := ""
	for _, x := range checked {
		if !x.Borrowed && owner != "" && owner != x.Node {
			return ""
		} else if !x.Borrowed {
			owner = x.Node
		}
	}
	if owner != "" {
		return owner
	}
	for a, h := range holders {
		if !p.Contains(a) || lent[a] {
			continue
		}
		if owner != "" && owner != h.node {
			return ""
		}
		owner = h.node
	}
	return owner
}

// shownPools makes pools of the lines that say IP Pool, for those that were not
// dumped themselves.
func (d *record) shownPools(blocks []netip.Prefix) {
	if len(d.pools) > 0 {
		return
	}
	for _, u := range d.c.tables.Pools {
		s := &poolSpec{CIDR: u.CIDR.String(), NodeSelector: "all()"}
		for _, p := range blocks {
			if u.CIDR.Overlaps(p) {
				s.BlockSize = p.Bits()
			}
		}
		name := "pool-" + BlockName(u.CIDR.String())
		d.pools[name] = s
		d.Origin("IPPool "+name, u.From)
	}
	if len(d.pools) == 0 && len(d.c.tables.Checked) > 0 {
		d.coveringPools(blocks)
		return
	}
	if len(d.pools) > 0 {
		d.Unknown("no IPPools in the dump: derived from the output of calicoctl ipam show, without encapsulation and selectors")
	}
}

// coveringPools makes a pool of each IP family that holds all blocks: without pools
// the manager of their addresses would not be known.
func (d *record) coveringPools(blocks []netip.Prefix) {
	for _, is6 := range []bool{false, true} {
		var all netip.Prefix
		size := 0
		for _, p := range blocks {
			if p.Addr().Is6() != is6 {
				continue
			}
			if size = max(size, p.Bits()); !all.IsValid() {
				all = p
			}
			for !all.Contains(p.Addr()) || all.Bits() > p.Bits() {
				all, _ = all.Addr().Prefix(all.Bits() - 1)
			}
		}
		if all.IsValid() {
			d.pools["pool-"+BlockName(all.String())] = &poolSpec{CIDR: all.String(), NodeSelector: "all()", BlockSize: size}
		}
	}
	d.Unknown("no IPPools in the dump: one that holds all blocks is assumed, without encapsulation and selectors")
}
