package dump

import (
	"math/big"
	"net/netip"
	"strconv"
	"strings"
)

// claim is one address that the record says is in use.
type claim struct {
	addr              netip.Addr
	pod               string // namespace/name; "" for what is no pod's
	node              string // Calico's: for which it was handed out
	container, handle string
	iface             string
	pool              string // key of Whereabouts' pool; "" for Calico's
	seq               int    // ordinal in Calico's block, for order
}

// podHandle is what Calico's CNI plugin puts before the container id in a handle.
//
// Source: cni-plugin/internal/pkg/utils, GetHandleID (v3.31).
const podHandle = "k8s-pod-network."

// claimsOf are all of the record, in order of blocks and pools.
func (d *draft) claimsOf() []claim {
	var out []claim
	for _, key := range d.blockKeys() {
		out = append(out, blockClaims(d.blocks[key])...)
	}
	for _, key := range keysOf(d.ranged) {
		p := d.ranged[key]
		first, err := netip.ParsePrefix(p.Range)
		if err != nil {
			continue
		}
		for _, k := range sortedOffsets(p.Allocations) {
			n, _ := strconv.ParseUint(k, 10, 64)
			a := p.Allocations[k]
			if addr := offset(first.Addr(), n); addr.IsValid() {
				out = append(out, claim{addr: addr, pod: a.PodRef, container: a.ID, iface: a.IfName, pool: key})
			}
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
		c := claim{addr: offset(p.Addr(), uint64(i)), node: at.Secondary["node"], seq: i}
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

// offset is the address that lies n behind another, not valid if there is none.
func offset(a netip.Addr, n uint64) netip.Addr {
	sum := new(big.Int).Add(new(big.Int).SetBytes(a.AsSlice()), new(big.Int).SetUint64(n))
	b := make([]byte, a.BitLen()/8)
	if sum.BitLen() > a.BitLen() {
		return netip.Addr{}
	}
	out, _ := netip.AddrFromSlice(sum.FillBytes(b))
	return out
}

func sortedOffsets[V any](m map[string]V) []string {
	out := keysOf(m)
	sortBy(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return out
}
