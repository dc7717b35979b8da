package calico

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/kept"
)

// claim is one address that a block says is in use.
type claim struct {
	addr              netip.Addr
	pod               string // namespace/name; "" for what is no pod's
	node              string // for which it was handed out
	container, handle string
}

// podHandle is what Calico's CNI plugin puts before the container id in a handle.
//
// Source: cni-plugin/internal/pkg/utils, GetHandleID (v3.31).
const podHandle = "k8s-pod-network."

// claims are all of the record, in order of blocks.
func (d *record) claims() (out []dump.Claim) {
	for _, key := range kept.Keys(d.blocks) {
		for _, cl := range blockClaims(d.blocks[key]) {
			same := func(x printed.Allocation) bool { return x.Unused && x.Handle == cl.handle }
			unused := slices.ContainsFunc(d.c.tables.Checked[cl.addr], same)
			out = append(out, dump.Claim{Addr: cl.addr, Pod: cl.pod, Node: cl.node, Container: cl.container, Unused: unused})
		}
	}
	return out
}

func blockClaims(b *blockSpec) []claim {
	p, err := netip.ParsePrefix(b.CIDR)
	if err != nil {
		return nil
	}
	var out []claim
	for i, a := range b.Allocations {
		if a == nil || *a < 0 || *a >= len(b.Attributes) {
			continue
		}
		at := b.Attributes[*a]
		c := claim{addr: alias.Offset(p.Addr(), uint64(i)), node: at.Secondary["node"]}
		if name := at.Secondary["pod"]; name != "" {
			c.pod = at.Secondary["namespace"] + "/" + name
		}
		if at.Handle != nil {
			c.handle = *at.Handle
			if id, ok := strings.CutPrefix(c.handle, podHandle); ok {
				c.container = id
			}
		}
		out = append(out, c)
	}
	return out
}
