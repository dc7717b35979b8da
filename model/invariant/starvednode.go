package invariant

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Codes of StarvedNode: the reason why the node needs a block.
const (
	podWaits    = "pod-waits"
	podBorrowed = "pod-borrowed" // an address of another node's block
)

// StarvedNode is the staging cluster of seeds/000: two nodes have all the blocks
// and need half of them, and pods on the others get borrowed addresses or none.
var StarvedNode = define(Invariant{
	Name:     "starved-node",
	Severity: model.Major,
	Phase:    Quiescent,
	Doc:      "Once all is calm, no node that needs a block goes without one while another has an empty one.",
	Kinds: []Kind{
		{podWaits, "{starved} has no block in network {network} and {for} waits for an address, while block {block} of {owner} is empty"},
		{podBorrowed, "{starved} has no block in network {network} and {for} has borrowed {borrowed}, while block {block} of {owner} is empty"},
	},
	// The calls of the pods of the node do not show which node took the blocks.
	Cause:  CauseRule{Start: FromRefusal, Identity: Identity{Code: noCode, Function: true, Earlier: true}},
	Effect: "pods that start on the node borrow addresses from other nodes' blocks, or get none",
	Keep:   KeepCollectors,
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
		for _, pools := range wishes(v, n, name) {
			out = append(out, starvedOf(v, n, name, pools, spare)...)
		}
	}
	return out
}

// wishes are the lists of pools that pods on a node ask for and wait; nil is of those that
// take any.
func wishes(v *View, n *model.Network, node string) [][]string {
	out := [][]string{nil}
	for ref, pod := range v.Truth.Pods {
		asks := askedPools(v, ref)
		if pod.Node == node && slices.Contains(pod.Networks, n.Key) && !slices.ContainsFunc(out, func(p []string) bool { return slices.Equal(p, asks) }) {
			out = append(out, asks)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// starvedOf judges a node by its pods that ask for these pools.
func starvedOf(v *View, all *model.Network, name string, pools []string, spare []*model.Pool) (out []finding) {
	n := all.Only(pools, name)
	could := map[bool][]*model.Pool{}
	for _, v4 := range []bool{true, false} {
		if (v4 && n.Blocks.V4 || !v4 && n.Blocks.V6) && !hasBlock(v, &n, name, v4, len(pools) > 0) {
			could[v4] = slices.DeleteFunc(slices.Clone(spare), func(b *model.Pool) bool { return !couldHave(b, &n, name, v4) })
		}
	}
	for _, v4 := range []bool{true, false} {
		for _, b := range could[v4] {
			if code, facts := need(v, &n, name, b, pools, len(could[!v4]) > 0); code != "" {
				out = append(out, finding{
					code:    code,
					objects: []model.Ref{nodeName(name), networkName(n.Key), model.BlockOf(b.Range), nodeName(b.Node)},
					facts:   append(facts, model.NewFact("starved", nodeName(name)), ownerFact(b)),
				})
				break
			}
		}
	}
	return out
}

// failsElsewhere reports whether a pod waits because of another of its networks: the last failed
// ADD was of that network, and the address of this one was released because of it.
func failsElsewhere(v *View, pod model.PodRef, network string) bool {
	if v.History == nil {
		return false
	}
	end, failed := v.History.Added(pod)
	return failed > 0 && end.Network != "" && end.Network != network
}

// emptyBlocks are the blocks of a network that have an owner and no claims. One that its owner
// claimed or confirmed a moment ago is about to be used, or given back.
func emptyBlocks(v *View, n *model.Network) []*model.Pool {
	used, fresh := usedBlocks(v), map[string]bool{}
	for _, a := range v.Record.Affinities {
		if v.Truth.At-v.Past.standing(a) <= young {
			fresh[a.Node+" "+a.Block.String()] = true
		}
	}
	return slices.DeleteFunc(blocks(v), func(b *model.Pool) bool {
		return b.Node == "" || virtual(b.Node) || used[b.Name] || !n.Owns(b) || fresh[b.Node+" "+b.Range.String()]
	})
}

// usedBlocks are the names of the blocks in which something is claimed.
func usedBlocks(v *View) map[string]bool {
	used := map[string]bool{}
	for i := range v.Record.Claims {
		used[v.Record.Claims[i].Pool] = true
	}
	return used
}

// hasBlock reports whether a node has one of a family: if pods ask for pools, in these.
func hasBlock(v *View, n *model.Network, node string, v4, asked bool) bool {
	return slices.ContainsFunc(v.Record.Affinities, func(a model.Affinity) bool {
		if a.Node != node || a.Block.Addr().Is4() != v4 {
			return false
		}
		p := n.Blocks.PoolOf(a.Block.Addr())
		return !asked || p != nil && p.Serves(node)
	})
}

// couldHave reports whether the node could have an empty block instead of its owner.
func couldHave(b *model.Pool, n *model.Network, node string, v4 bool) bool {
	p := n.Blocks.PoolOf(b.Range.Addr())
	return b.Range.Addr().Is4() == v4 && p != nil && p.Serves(node) && p.BlockBits == b.Range.Bits()
}

// need is the reason why a node without a block needs this one, or "": a pod that waits and
// requests these pools, or, without requested pools, one that has borrowed from the same pool. A
// tunnel, or a pod that requested a pool, has borrowed there because it may use no other pool.
// both: the node also needs a block of the other family, which it could have as well.
func need(v *View, n *model.Network, node string, b *model.Pool, pools []string, both bool) (code string, facts []model.Fact) {
	v4, pool := b.Range.Addr().Is4(), n.Blocks.PoolOf(b.Range.Addr())
	var waiting []model.Ref
	has := attachments(v)
	for ref, pod := range v.Truth.Pods {
		if pod.Node == node && startable(v, pod) && !asked(v, ref) && slices.Equal(askedPools(v, ref), pools) && slices.Contains(pod.Networks, n.Key) && has[wish{ref, pod.UID, n.Key}] == 0 && !failsElsewhere(v, ref, n.Key) {
			waiting = append(waiting, model.PodOf(ref))
		}
	}
	if len(waiting) > 0 && (both || !lacks(v, n, node, !v4)) {
		return podWaits, []model.Fact{model.NewFact("for", slices.MinFunc(waiting, model.Ref.Compare))}
	}
	if len(pools) > 0 {
		return "", nil
	}
	for _, s := range v.Truth.Sandboxes {
		for _, a := range s.Attachments {
			at := slices.IndexFunc(a.Addrs, func(a netip.Addr) bool { return a.Is4() == v4 && pool.Prefix.Contains(a) && claimed(v, a) })
			if s.Node == node && a.Network == n.Key && at >= 0 {
				return podBorrowed, []model.Fact{model.NewFact("for", model.PodOf(s.Pod)), model.NewFact("borrowed", model.AddressOf(a.Addrs[at]))}
			}
		}
	}
	return "", nil
}

// claimed reports whether an address is claimed: an unclaimed address is not borrowed.
func claimed(v *View, a netip.Addr) bool {
	return slices.ContainsFunc(v.Record.Claims, func(c model.Claim) bool { return c.Addr == a })
}

// lacks reports whether pods need addresses of a family too and the node can get none. A block of
// the other family does not help them then: upstream releases the address that they have.
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
