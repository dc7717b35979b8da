package calico

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
)

// fromTables makes pools and blocks of what calicoctl ipam show printed. A block's
// addresses are those of borrowed lines and of pods; how many more are in use is
// said, and nothing is made up for them.
func (d *record) fromTables() {
	t := &d.c.tables
	if len(t.blocks)+len(t.borrowed)+len(t.checked) == 0 {
		return
	}
	used := map[netip.Prefix]usage{}
	for _, u := range t.blocks {
		used[u.cidr] = u
	}
	for _, b := range t.borrowed {
		if _, ok := used[b.block]; !ok {
			used[b.block] = usage{cidr: b.block, inUse: -1, from: b.from}
		}
	}
	for a := range t.checked {
		if p, ok := d.checkedBlock(a, used); ok {
			if _, ok := used[p]; !ok {
				used[p] = usage{cidr: p, inUse: -1}
			}
		}
	}
	for _, id := range t.leaked {
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
		b, known := d.shownBlock(p, holders)
		if b.Affinity == nil {
			noOwner++
		}
		if n := used[p].inUse; n > known {
			missing += n - known
		}
		d.blocks[p.String()] = b
		d.Origin("IPAMBlock "+BlockName(p.String()), used[p].from)
	}
	d.shownPools(cidrs)
	d.Unknown("no IPAMBlocks in the dump: %s concluded from what calicoctl printed of its allocations", dump.Plural(len(d.blocks), "block is", "blocks are"))
	if missing > 0 {
		d.Unknown("%s in use of which nothing says whose they are: not in the scenario", dump.Plural(missing, "address is", "addresses are"))
	}
	if noOwner > 0 {
		d.Unknown("%s: nothing says whose they are", dump.Plural(noOwner, "block", "blocks"))
	}
}

// holder is who has an address, as far as tables, endpoints and pods say: a pod, or
// with a tunnel the node itself.
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
	for a, c := range d.c.tables.checked {
		out[a] = c.holder
	}
	for _, b := range d.c.tables.borrowed {
		h := out[b.addr]
		if ns, name, ok := strings.Cut(b.user, "/"); ok && h.pod == "" {
			h.namespace, h.pod = ns, name
		}
		if _, ok := tunnelTypes[b.typ]; ok {
			h.tunnel = b.typ
		}
		h.node = b.node
		out[b.addr] = h
	}
	return out
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

// handle is the one under which the address is claimed, made up for a pod whose
// container nobody names. "" for who is neither pod nor tunnel.
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
func (d *record) shownBlock(p netip.Prefix, holders map[netip.Addr]holder) (*blockSpec, int) {
	size := 1 << (p.Addr().BitLen() - p.Bits())
	b := &blockSpec{CIDR: p.String(), Allocations: make([]*int, size)}
	if owner := d.owner(p, holders); owner != "" {
		owner = "host:" + owner
		b.Affinity = &owner
	}
	known := 0
	for i := range size {
		h, ok := holders[alias.Offset(p.Addr(), uint64(i))]
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
		if c, ok := d.c.tables.checked[alias.Offset(p.Addr(), uint64(i))]; ok {
			if handle = c.handle; c.typ != "" {
				at.Secondary["type"] = c.typ
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
func (d *record) owner(p netip.Prefix, holders map[netip.Addr]holder) string {
	t := &d.c.tables
	lent := map[netip.Addr]bool{}
	for _, b := range t.borrowed {
		if b.block == p && b.owner != "" {
			return b.owner
		}
		lent[b.addr] = true
	}
	for a, c := range t.checked {
		lent[a] = lent[a] || c.borrowed
	}
	if !t.shownBorrowed && len(t.checked) == 0 {
		return ""
	}
	owner := ""
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
	for _, u := range d.c.tables.pools {
		s := &poolSpec{CIDR: u.cidr.String(), NodeSelector: "all()"}
		for _, p := range blocks {
			if u.cidr.Overlaps(p) {
				s.BlockSize = p.Bits()
			}
		}
		name := "pool-" + BlockName(u.cidr.String())
		d.pools[name] = s
		d.Origin("IPPool "+name, u.from)
	}
	if len(d.pools) > 0 {
		d.Unknown("no IPPools in the dump: concluded from what calicoctl ipam show printed, without encapsulation and selectors")
	}
}
