package invariant

import (
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// StarvedNode is the staging cluster of seeds/000: two nodes have all the blocks,
// of which they need half, and pods on the others get borrowed addresses or none.
var StarvedNode = define(Invariant{
	Name:     "starved-node",
	Severity: model.Major,
	Phase:    Quiescent,
	Doc:      "Once all is calm, no node that needs a block goes without one while another has an empty one.",
}, func(v View) []finding {
	var out []finding
	for i := range v.Networks {
		if n := &v.Networks[i]; n.Blocks != nil {
			out = append(out, starved(&v, n)...)
		}
	}
	return out
})

func starved(v *View, n *model.Network) []finding {
	spare := emptyBlocks(v, n)
	if len(spare) == 0 {
		return nil
	}
	var out []finding
	for name, node := range v.Truth.Nodes {
		if !node.Healthy() || !node.Registered {
			continue
		}
		for _, v4 := range []bool{true, false} {
			if (v4 && !n.Blocks.V4) || (!v4 && !n.Blocks.V6) || hasBlock(v, name, v4) {
				continue
			}
			b := spareFor(spare, n, name, v4)
			if b == nil {
				continue
			}
			if why := need(v, n, name, v4); why != "" {
				out = append(out, finding{
					message: fmt.Sprintf("%s has no block in network %s and %s, while block %s of %s is empty", name, n.Key, why, b.Range, b.Node),
					objects: []model.Ref{nodeName(name), networkName(n.Key), model.BlockOf(b.Range), nodeName(b.Node)},
				})
			}
		}
	}
	return out
}

// emptyBlocks are the blocks of a network that have an owner and no claims.
func emptyBlocks(v *View, n *model.Network) []*model.Pool {
	used := usedBlocks(v)
	return slices.DeleteFunc(blocks(v), func(b *model.Pool) bool { return b.Node == "" || virtual(b.Node) || used[b.Name] || !n.Owns(b) })
}

// usedBlocks are the names of the blocks in which something is claimed.
func usedBlocks(v *View) map[string]bool {
	used := map[string]bool{}
	for i := range v.Record.Claims {
		used[v.Record.Claims[i].Pool] = true
	}
	return used
}

func hasBlock(v *View, node string, v4 bool) bool {
	return slices.ContainsFunc(v.Record.Affinities, func(a model.Affinity) bool { return a.Node == node && a.Block.Addr().Is4() == v4 })
}

// spareFor is the first empty block that the node could have instead of its owner.
func spareFor(spare []*model.Pool, n *model.Network, node string, v4 bool) *model.Pool {
	for _, b := range spare {
		p := n.Blocks.PoolOf(b.Range.Addr())
		if b.Range.Addr().Is4() == v4 && p != nil && !p.Disabled && !p.Manual && !p.Selective && p.Workloads &&
			p.BlockBits == b.Range.Bits() && slices.Contains(p.Nodes, node) {
			return b
		}
	}
	return nil
}

// need is for what a node without block needs one, or "": a pod that waits, or one
// that has borrowed.
func need(v *View, n *model.Network, node string, v4 bool) string {
	var waiting []string
	has := attachments(v)
	for ref, pod := range v.Truth.Pods {
		if pod.Node == node && startable(v, pod) && !asked(v, ref) && slices.Contains(pod.Networks, n.Key) && has[wish{ref, pod.UID, n.Key}] == 0 {
			waiting = append(waiting, ref.String())
		}
	}
	if len(waiting) > 0 && !lacks(v, n, node, !v4) {
		return slices.Min(waiting) + " waits for an address"
	}
	for _, s := range v.Truth.Sandboxes {
		for _, a := range s.Attachments {
			at := slices.IndexFunc(a.Addrs, func(a netip.Addr) bool { return a.Is4() == v4 })
			if s.Node == node && a.Network == n.Key && at >= 0 {
				return fmt.Sprintf("%s has borrowed %s", s.Pod, a.Addrs[at])
			}
		}
	}
	return ""
}

// lacks reports whether pods need addresses of a family too and the node can get none.
// Then a block of the other family does not help them: upstream gives back what it has.
func lacks(v *View, n *model.Network, node string, v4 bool) bool {
	policy := *n.Blocks
	policy.V4, policy.V6 = v4 && policy.V4, !v4 && policy.V6
	networks := slices.Clone(v.Networks)
	for i := range networks {
		if networks[i].Key == n.Key {
			networks[i].Blocks = &policy
		}
	}
	return (policy.V4 || policy.V6) && model.Free(networks, v.Record, n.Key, node) == 0
}
