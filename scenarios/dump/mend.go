package dump

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Mend is how nodes that borrow because they have no block of their own get one: one
// block of another node's is emptied and given back.
type Mend struct {
	Homeless []string // the nodes that borrow and have no block of that family, sorted, those last that are cordoned
	Spare    []Spare  // blocks that their owners could do without, emptiest first
	Steps    []Step   // to give the first of them back; none if there is none

	moved map[string]bool // the pods that borrow
}

// moves reports whether the steps move a pod that borrows.
func (m *Mend) moves(pod string) bool { return m != nil && len(m.Steps) > 0 && m.moved[pod] }

// Spare is a block of a node that has another one with room.
type Spare struct {
	Block netip.Prefix
	Owner string
	InUse int // addresses that are claimed
}

// Step is what to do, and the command lines for it.
type Step struct {
	Do       string
	Commands []string
}

// neighbourhood is who has which blocks, of one address family.
type neighbourhood struct {
	blocks map[string][]*block // by owner, of those with an affinity
	all    map[string]*block   // by the name that claims have for it
}

type block struct {
	*model.Pool
	claims []*model.Claim
}

func (b *block) free() int {
	size := b.Range.Addr().BitLen() - b.Range.Bits()
	return 1<<min(size, 16) - len(b.claims)
}

func (b *block) spare(owner string) Spare { return Spare{b.Range, owner, len(b.claims)} }

func neighbours(v *scenarios.View, four bool) *neighbourhood {
	type owned struct {
		block netip.Prefix
		node  string
	}
	mine := map[owned]bool{}
	for _, a := range v.Record.Affinities {
		mine[owned{a.Block, a.Node}] = true
	}
	n := &neighbourhood{map[string][]*block{}, map[string]*block{}}
	for i := range v.Record.Pools {
		p := &v.Record.Pools[i]
		if p.Range.Addr().Is4() != four {
			continue
		}
		b := &block{Pool: p}
		n.all[p.Name] = b
		if mine[owned{p.Range, p.Node}] {
			n.blocks[p.Node] = append(n.blocks[p.Node], b)
		}
	}
	for i := range v.Record.Claims {
		cl := &v.Record.Claims[i]
		if b := n.all[cl.Pool]; b != nil {
			b.claims = append(b.claims, cl)
		}
	}
	return n
}

// mend is nil where nobody borrows for want of a block, or where a block is free
// that the next pod will claim, or none is claimed automatically.
func (c *Cluster) mend(v *scenarios.View, borrowed []Borrowed) *Mend {
	if s := c.config["default"]; s != nil && !s.value.AutoAllocateBlocks || len(borrowed) == 0 {
		return nil
	}
	four := borrowed[0].Addr.Is4()
	n := neighbours(v, four)
	if c.freeBlocks(n, four) {
		return nil
	}
	moved := map[string]bool{}
	m := &Mend{moved: moved}
	for _, b := range borrowed {
		if b.Addr.Is4() == four && b.Pod != "/" && len(n.blocks[b.Node]) == 0 && v.Truth.Nodes[b.Node].Up {
			m.Homeless = append(m.Homeless, b.Node)
			moved[b.Pod] = true
		}
	}
	slices.Sort(m.Homeless)
	m.Homeless = slices.Compact(m.Homeless)
	// Who was cordoned before waits longest.
	slices.SortStableFunc(m.Homeless, func(a, b string) int { return cordonedLast(c.cordoned(a), c.cordoned(b)) })
	if len(m.Homeless) == 0 {
		return nil
	}
	for owner, blocks := range n.blocks {
		for _, b := range blocks {
			if v.Truth.Nodes[owner].Up && !c.cordoned(owner) && roomBeside(b, blocks) && movable(b) && c.elsewhere(v, n, m.Homeless, owner) >= len(podsOf(b, moved)) {
				m.Spare = append(m.Spare, b.spare(owner))
			}
		}
	}
	slices.SortFunc(m.Spare, func(a, b Spare) int {
		if a.InUse != b.InUse {
			return a.InUse - b.InUse
		}
		return a.Block.Addr().Compare(b.Block.Addr())
	})
	kept := map[string]int{} // each owner keeps one
	m.Spare = slices.DeleteFunc(m.Spare, func(s Spare) bool {
		kept[s.Owner]++
		return kept[s.Owner] == len(n.blocks[s.Owner])
	})
	if len(m.Spare) > 0 {
		s := m.Spare[0]
		i := slices.IndexFunc(n.blocks[s.Owner], func(b *block) bool { return b.Range == s.Block })
		m.Steps = c.steps(v, n, m, podsOf(n.blocks[s.Owner][i], moved))
	}
	return m
}

// freeBlocks reports whether any pool that every node may use has a block that nobody
// has.
func (c *Cluster) freeBlocks(n *neighbourhood, four bool) bool {
	for _, key := range c.pools.keys() {
		p := c.pools[key].value
		cidr, err := netip.ParsePrefix(p.CIDR)
		if err != nil || cidr.Addr().Is4() != four || p.Disabled || p.NodeSelector != "" && p.NodeSelector != "all()" {
			continue
		}
		size := p.BlockSize
		if size == 0 {
			size = cidr.Addr().BitLen() - 6 // Calico's default: /26 and /122
		}
		used := 0
		for _, b := range n.all {
			if cidr.Contains(b.Range.Addr()) {
				used++
			}
		}
		if bits := size - cidr.Bits(); bits > 30 || bits >= 0 && used < 1<<bits {
			return true
		}
	}
	return false
}

// roomBeside reports whether a block's owner has a free address in another one:
// without it, it would claim the block again.
func roomBeside(b *block, blocks []*block) bool {
	return slices.ContainsFunc(blocks, func(o *block) bool { return o != b && o.free() > 0 })
}

// movable reports whether all that is in a block are pods.
func movable(b *block) bool {
	return !slices.ContainsFunc(b.claims, func(cl *model.Claim) bool { return cl.Tunnel || cl.Pod.Name == "" })
}

// podsOf are the pods in a block and those that borrow, sorted.
func podsOf(b *block, borrowers map[string]bool) []string {
	var out []string
	for p := range borrowers {
		out = append(out, p)
	}
	for _, cl := range b.claims {
		out = append(out, cl.Pod.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// elsewhere is how many addresses are free in the blocks of nodes that take pods: all
// but those without a block and the owner of the block that is emptied.
func (c *Cluster) elsewhere(v *scenarios.View, n *neighbourhood, homeless []string, owner string) int {
	room := 0
	for node, blocks := range n.blocks {
		if node == owner || slices.Contains(homeless, node) || !v.Truth.Nodes[node].Up || c.cordoned(node) {
			continue
		}
		for _, b := range blocks {
			room += b.free()
		}
	}
	return room
}

// movedMax is how many pods are moved by commands of one report.
const movedMax = 200

func (c *Cluster) cordoned(node string) bool {
	n := c.nodes[node]
	return n != nil && n.value.Cordoned
}

func cordonedLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// steps give the first spare block back to the pool, for the first of the homeless.
func (c *Cluster) steps(v *scenarios.View, n *neighbourhood, m *Mend, pods []string) []Step {
	s := m.Spare[0]
	more := ""
	if len(pods) > movedMax {
		pods, more = pods[:movedMax], "; then dump and import again for the rest of them"
	}
	out := []Step{{
		fmt.Sprintf("no new pods on nodes without a block, nor on the one that gives its block %s back", s.Block),
		[]string{"kubectl cordon " + shellAll(append(slices.Clone(m.Homeless), s.Owner))},
	}, {
		fmt.Sprintf("make the pods that borrow and those in %s start elsewhere, where %s free%s. Who belongs to nobody is not made again, and what a DaemonSet made comes back to its node whatever is cordoned: look at kubectl get pod -o jsonpath={.metadata.ownerReferences}",
			s.Block, plural(c.elsewhere(v, n, m.Homeless, s.Owner), "address is", "addresses are"), more),
		deletePods(v, pods),
	}, {
		fmt.Sprintf("look whether 0 addresses of %s are in use now. Deleted with one in use, the block is made anew and gives that address to another pod (scenarios/w4-repair-too-early.yaml)", s.Block),
		[]string{"calicoctl ipam show --show-blocks"},
	}}
	if give, _ := c.freeBlock(s.Block.String()); give != nil {
		out = append(out, Step{"give it back. kube-controllers from v3.20 on do so by themselves, once it has been empty for the grace period (15 minutes by default)", give})
	} else {
		out = append(out, Step{"give it back. kube-controllers from v3.20 on do so by themselves, once it has been empty for the grace period (15 minutes by default); with Calico's data in etcd there is no command that does", nil})
	}
	last := Step{fmt.Sprintf("let pods start on %s: the first one claims the block (scenarios/w4-repair-by-hand.yaml)", m.Homeless[0]),
		[]string{"kubectl uncordon " + shellAll([]string{m.Homeless[0], s.Owner})}}
	if rest := m.Homeless[1:]; len(rest) > 0 {
		last.Do += fmt.Sprintf(". Leave %s cordoned, and once it has it dump and import again for the next block", some(rest))
	}
	return append(out, last)
}

func shellAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = reports.Shell(n)
	}
	return strings.Join(out, " ")
}

// deletePods has a line for each namespace. Pods that are gone already are left out.
func deletePods(v *scenarios.View, pods []string) []string {
	by := map[string][]string{}
	for _, p := range pods {
		ns, name, _ := strings.Cut(p, "/")
		if _, ok := v.Truth.Pods[model.PodRef{Namespace: ns, Name: name}]; ok {
			by[ns] = append(by[ns], name)
		}
	}
	var out []string
	for _, ns := range keysOf(by) {
		out = append(out, "kubectl delete pod -n "+reports.Shell(ns)+" "+shellAll(by[ns]))
	}
	return out
}

func (m *Mend) write(w io.Writer) {
	if m == nil {
		return
	}
	has := "have"
	if len(m.Homeless) == 1 {
		has = "has"
	}
	fmt.Fprintf(w, "mend: %s %s no block, and none is free: who starts there borrows again\n", reports.Clean(some(m.Homeless)), has)
	for i, s := range m.Spare {
		if i == shownMax && len(m.Spare) > shownMax+1 {
			fmt.Fprintf(w, "mend: %d more blocks to spare\n", len(m.Spare)-shownMax)
			break
		}
		fmt.Fprintf(w, "mend: %s has a block to spare, %s, with %s in use\n", reports.Clean(s.Owner), s.Block, plural(s.InUse, "address", "addresses"))
	}
	if len(m.Spare) == 0 {
		fmt.Fprintf(w, "mend: no node has a block to spare, or room for the pods in it: it takes another pool, or one with smaller blocks\n")
	}
	for i, s := range m.Steps {
		fmt.Fprintf(w, "mend: %d. %s\n", i+1, reports.Clean(s.Do))
		for _, c := range s.Commands {
			fmt.Fprintf(w, "       %s\n", c)
		}
	}
}
