package calico

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model"
)

// block tells of a block: "reads block 10.64.75.0/26 of kubestage1001: 64 of 64
// used", "writes block …: 10.64.75.228 for default/web-3, if still at revision
// 17".
func (m *message) block(k bmodel.BlockKey) string {
	name := "block " + k.CIDR.String()
	v, _ := m.value().(*bmodel.AllocationBlock)
	whose := ""
	if v != nil {
		whose = of(nodeOf(v.Affinity))
	}
	switch {
	case m.act == get && m.outcome == absent:
		return "sees that there is no " + name
	case m.act == get && v != nil:
		return "reads " + name + whose + m.at() + ": " + fill(v) + marked(v.Deleted)
	case m.act == get:
		return "asks for " + name
	case m.act == create && v != nil:
		return "makes " + name + strings.Replace(whose, " of ", " for ", 1) + m.refusal("block")
	case m.act == update && v != nil:
		return "writes " + name + whose + ": " + m.written(v) + m.condition() + m.refusal("block")
	case m.act == remove:
		return "deletes " + name + m.condition() + m.refusal("block")
	case m.act == hear && m.gone:
		return "hears that " + name + " was deleted"
	case m.act == hear && v != nil:
		return "hears of " + name + whose + ": " + fill(v)
	}
	return ""
}

// fill is how many addresses of a block are taken.
func fill(b *bmodel.AllocationBlock) string {
	used := 0
	for _, a := range b.Allocations {
		if a != nil {
			used++
		}
	}
	return fmt.Sprintf("%d of %d used", used, b.NumAddresses())
}

// written is what a write of a block is for: whom it gives addresses to, and whose
// it releases.
func (m *message) written(b *bmodel.AllocationBlock) string {
	if b.Deleted {
		return "marked as deleted"
	}
	var said []string
	if given := fresh(b); len(given) > 0 {
		said = append(said, some(owned(given, " for ")))
	}
	if len(m.released) > 0 {
		said = append(said, "releases "+some(owned(m.released, " of ")))
	}
	if b.Affinity == nil {
		said = append(said, "nobody's any more")
	}
	if len(said) == 0 {
		return fill(b)
	}
	return strings.Join(said, ", ")
}

// fresh are the claims that a write of a block makes: those taken at the sequence
// number that the block had before.
//
// Source: libcalico-go/lib/ipam, updateBlock, and AllocationBlock's
// SequenceNumberForAllocation (v3.31).
func fresh(b *bmodel.AllocationBlock) []model.Claim {
	var out []model.Claim
	p, ok := prefix(b.CIDR)
	for ordinal, index := range b.Allocations {
		if ok && index != nil && b.GetSequenceNumberForOrdinal(ordinal)+1 == b.SequenceNumber {
			out = append(out, claimOf(b, p, ordinal, *index))
		}
	}
	return out
}

// owned are addresses with their owners: a pod, a node's tunnel, or else what
// there is.
func owned(claims []model.Claim, whose string) []string {
	var out []string
	for _, c := range claims {
		owner := "nobody known"
		switch {
		case c.Pod.Name != "":
			owner = c.Pod.String()
		case c.Tunnel:
			owner = "the tunnel of " + c.Node
		case c.Handle != "":
			owner = "handle " + shortHandle(c.Handle)
		case c.Node != "":
			owner = "node " + c.Node
		}
		out = append(out, c.Addr.String()+whose+owner)
	}
	return out
}

// affinity tells of a node's claim: "claims block X for N (affinity pending)",
// "confirms …".
func (m *message) affinity(k bmodel.BlockAffinityKey) string {
	what := "the affinity of " + k.Host + " to " + k.CIDR.String()
	v, _ := m.value().(*bmodel.BlockAffinity)
	state := bmodel.StateConfirmed
	if v != nil && v.State != "" {
		state = v.State
	}
	switch {
	case m.act == get && m.outcome == absent:
		return "sees that " + k.Host + " has no affinity to " + k.CIDR.String()
	case m.act == get && v != nil:
		return "reads " + what + m.at() + ": " + string(state) + marked(v.Deleted)
	case m.act == get:
		return "asks for " + what
	case m.act == create:
		return "claims block " + k.CIDR.String() + " for " + k.Host + " (affinity " + string(state) + ")" + m.refusal("affinity")
	case m.act == update && v != nil && v.Deleted:
		return "marks " + what + " as deleted" + m.condition() + m.refusal("affinity")
	case m.act == update && state == bmodel.StateConfirmed:
		return "confirms " + what + m.condition() + m.refusal("affinity")
	case m.act == update:
		return "marks " + what + " as " + string(state) + m.condition() + m.refusal("affinity")
	case m.act == remove:
		return "drops " + what + m.condition() + m.refusal("affinity")
	case m.act == hear && m.gone:
		return "hears that " + what + " was dropped"
	case m.act == hear:
		return "hears of " + what + ": " + string(state)
	}
	return ""
}

// handle tells of the count by which addresses are released: "counts 1 for handle
// k8s-pod-network.1f2e in 10.64.75.0/26".
func (m *message) handle(k bmodel.IPAMHandleKey) string {
	name := "handle " + shortHandle(k.HandleID)
	v, _ := m.value().(*bmodel.IPAMHandle)
	switch {
	case m.act == get && m.outcome == absent:
		return "sees that there is no " + name
	case m.act == get && v != nil:
		return "reads " + name + m.at() + ": " + counts(v) + marked(v.Deleted)
	case m.act == get:
		return "asks for " + name
	case (m.act == create || m.act == update) && v != nil && v.Deleted:
		return "marks " + name + " as deleted" + m.condition() + m.refusal("handle")
	case (m.act == create || m.act == update) && v != nil:
		return "counts " + counts(v) + " for " + name + m.condition() + m.refusal("handle")
	case m.act == remove:
		return "deletes " + name + m.condition() + m.refusal("handle")
	}
	return ""
}

// marked says that an object is as good as gone: with the Kubernetes datastore
// upstream marks what it is about to delete.
func marked(deleted bool) string {
	if deleted {
		return ", marked as deleted"
	}
	return ""
}

// counts is what a handle has: "1 in 10.64.75.0/26".
func counts(h *bmodel.IPAMHandle) string {
	var out []string
	for _, cidr := range slices.Sorted(maps.Keys(h.Block)) {
		out = append(out, fmt.Sprintf("%d in %s", h.Block[cidr], cidr))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return some(out)
}
