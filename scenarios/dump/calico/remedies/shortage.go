package remedies

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
)

// homeless adds a problem for each address family in which nodes borrow because they have no
// block and cannot claim one.
func (d *drafts) homeless() {
	if d.network == nil || !d.network.Blocks.AutoAllocate || !d.known() {
		return
	}
	for _, four := range []bool{true, false} {
		if m := d.shortage(four); m != nil {
			d.Findings.Shortages = append(d.Findings.Shortages, *m)
		}
	}
}

// known reports whether the dump shows that it has everything by which nodes have blocks: a node
// whose block is not in the dump does not lack one.
func (d *drafts) known() bool {
	for _, name := range []string{"nodes", "ippools.crd.projectcalico.org", blocksResource, affinitiesResource} {
		if d.Cluster.Saw(name) && !d.Cluster.SawAll(name) {
			return false
		}
	}
	return true
}

// shortage returns the shortage of blocks in a family; nil if no node borrows for lack of a block.
func (d *drafts) shortage(four bool) *diagnosis.Shortage {
	borrowers := map[string][]model.PodRef{} // by node
	lacks := map[string]bool{}
	m := &diagnosis.Shortage{}
	for _, b := range d.Findings.Borrowed {
		if b.Addr.Is4() != four || b.Pod == "/" {
			continue
		}
		lack, known := lacks[b.Node]
		if n := d.View.Truth.Nodes[b.Node]; !known {
			lack = n.Up && n.Registered && !d.homes(b.Node, four) && !d.claimable(b.Node, four)
			lacks[b.Node] = lack
		}
		if !lack {
			continue
		}
		if !slices.Contains(m.Homeless, b.Node) && d.served(b.Node, four) {
			m.Homeless = append(m.Homeless, b.Node)
		}
		if p := diagnosis.PodRef(b.Pod); !d.View.Truth.Pods[p].Deleting { // a terminating pod releases its address itself
			borrowers[b.Node] = append(borrowers[b.Node], p)
		}
	}
	if len(m.Homeless) == 0 {
		return nil
	}
	slices.Sort(m.Homeless)
	// Nodes that were cordoned before come last.
	slices.SortStableFunc(m.Homeless, func(a, b string) int { return cordonedLast(d.Facts.Cordoned(a), d.Facts.Cordoned(b)) })
	p := remedy.Problem{Needs: m.Homeless[0]}
	var all []model.PodRef
	for _, n := range m.Homeless {
		all = append(all, borrowers[n]...)
	}
	slices.SortFunc(all, diagnosis.ByPod)
	all = slices.Compact(all)
	_, moved, ruled := d.Move(all, true)
	p.Ruled = ruled
	for _, e := range d.spares(m.Homeless[0], four) {
		m.Spare = append(m.Spare, e.Spare)
		if len(p.Try) < sparesTried && len(all)+len(e.pods) <= diagnosis.MovedMax {
			p.Try = append(p.Try, d.empties(m.Homeless, moved, e))
		}
	}
	if len(m.Spare) > 0 && (m.Spare[0].OwnerGone || m.Spare[0].InUse == 0) {
		p.Advice = d.kubeControllers()
	}
	var about []int
	for _, i := range d.Open(invariant.BlackholedAddress.Name) {
		if slices.Contains(moved, diagnosis.PodRef(diagnosis.ObjectsOf(&d.Findings.All[i].Violation)[model.RefPod])) && d.family(i) == four {
			about = append(about, i)
		}
	}
	m.Problem = d.Add(about, p)
	return m
}

// sparesTried is how many blocks are tried, the best first.
const sparesTried = 4

func (d *drafts) family(finding int) (four bool) {
	a, err := netip.ParseAddr(diagnosis.ObjectsOf(&d.Findings.All[finding].Violation)[model.RefAddress])
	return err == nil && a.Is4()
}

// served reports whether any pod on a node may get an address of some pool.
func (d *drafts) served(node string, four bool) bool {
	return slices.ContainsFunc(d.network.Blocks.Pools, func(p model.IPPool) bool { return p.Prefix.Addr().Is4() == four && p.Serves(node) })
}

// usable reports whether a node hands addresses of a block out, if the block is its.
func (d *drafts) usable(block netip.Prefix, node string) bool {
	p := d.network.Blocks.PoolOf(block.Addr())
	return p != nil && p.BlockBits == block.Bits() && p.Serves(node)
}

// homes reports whether a node has a block to hand addresses out of.
func (d *drafts) homes(node string, four bool) bool {
	return slices.ContainsFunc(d.affinities[node], func(a model.Affinity) bool {
		return a.Block.Addr().Is4() == four && a.State != model.PendingDeletion && d.usable(a.Block, node)
	})
}

func (d *drafts) claimable(node string, four bool) bool {
	return model.Claimable(d.network, &d.View.Record, node, four)
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

// emptied is a block that could be emptied.
type emptied struct {
	diagnosis.Spare
	pods   []model.PodRef // that have an address in it and move
	leaked []netip.Addr   // claimed without a holder
}

// spares are the blocks that a node could have instead of their owners, the best first:
// those whose owners are gone, then those that the fewest pods have to leave.
func (d *drafts) spares(node string, four bool) []emptied {
	var out []emptied
	for i := range d.View.Record.Pools {
		b := &d.View.Record.Pools[i]
		if b.Range.Addr().Is4() != four || virtual(b.Node) || !d.usable(b.Range, node) {
			continue
		}
		if e := d.emptied(b); e != nil && d.dispensable(b, len(e.pods) == 0) {
			out = append(out, *e)
		}
	}
	slices.SortFunc(out, func(a, b emptied) int {
		if a.OwnerGone != b.OwnerGone {
			return cordonedLast(b.OwnerGone, a.OwnerGone)
		}
		return cmp.Or(len(a.pods)-len(b.pods), a.Block.Addr().Compare(b.Block.Addr()))
	})
	kept := map[string]int{} // each owner keeps one
	return slices.DeleteFunc(out, func(e emptied) bool {
		kept[e.Owner]++
		return !e.OwnerGone && kept[e.Owner] == d.blocksOf(e.Owner, four)
	})
}

func (d *drafts) blocksOf(node string, four bool) int {
	n := 0
	for _, b := range d.owned[node] {
		if b.Range.Addr().Is4() == four && d.usable(b.Range, node) {
			n++
		}
	}
	return n
}

// dispensable reports whether the owner of a block does not need it: the owner is deleted, or it
// has room in another block; otherwise it would claim the block again. A cordoned or tainted node
// keeps the block if pods use it, because they run there on purpose.
func (d *drafts) dispensable(b *model.Pool, unused bool) bool {
	n := d.View.Truth.Nodes[b.Node]
	if !n.Registered {
		return true
	}
	if !n.Up || !unused && !d.Facts.TakesPods(b.Node) {
		return false
	}
	for _, o := range d.owned[b.Node] {
		if o.Range == b.Range || o.Range.Addr().Is4() != b.Range.Addr().Is4() || !d.usable(o.Range, b.Node) {
			continue
		}
		if len(d.Claims[o.Name]) < 1<<min(o.Range.Addr().BitLen()-o.Range.Bits(), 16) {
			return true
		}
	}
	return false
}

// emptied returns nil for a block with an address that cannot be moved: of a tunnel of an existing
// node, of a pod that no controller recreates, or of a holder that is neither a pod of the dump
// nor reported as leaked.
func (d *drafts) emptied(b *model.Pool) *emptied {
	e := &emptied{Spare: diagnosis.Spare{Block: b.Range, Owner: b.Node, OwnerGone: !d.View.Truth.Nodes[b.Node].Registered}}
	for _, cl := range d.Claims[b.Name] {
		switch {
		case d.View.Truth.Pods[cl.Pod].Deleting: // terminates anyway
		case d.isLeaked(cl.Addr):
			e.leaked = append(e.leaked, cl.Addr)
		case cl.Tunnel || !slices.Contains(d.Has[cl.Pod], cl.Addr):
			return nil // unknown holder
		case d.Facts.Obstacle(cl.Pod) != remedy.Movable:
			return nil
		default:
			e.pods = append(e.pods, cl.Pod)
		}
	}
	if len(e.leaked) > diagnosis.LinesMax {
		return nil
	}
	e.InUse = len(e.pods)
	return e
}

func (d *drafts) isLeaked(a netip.Addr) bool {
	_, ok := d.Leaked[a]
	return ok
}

// empties gives a spare block to the first node without a block. The borrowers, and the pods in the block,
// start on other nodes; a DaemonSet's pod returns to its node, so on the first node without a block it is
// restarted when the block is free.
func (d *drafts) empties(homeless []string, borrowers []model.PodRef, e emptied) remedy.Remedy {
	first := homeless[0]
	var now, later []model.PodRef
	for _, p := range borrowers {
		switch stays := d.Facts.StaysHome(p); {
		case !stays:
			now = append(now, p)
		case d.Facts.Node(p) == first:
			later = append(later, p)
		}
	}
	now = append(now, e.pods...)
	slices.SortFunc(now, diagnosis.ByPod)
	now = slices.Compact(now)
	var steps []remedy.Step
	bare := d.blockless(homeless, e.Block.Addr().Is4())
	shut := slices.DeleteFunc(slices.Concat(homeless, []string{e.Owner}, bare), func(n string) bool { return !d.Facts.Exists(n) || d.Facts.Cordoned(n) })
	if len(shut) > 0 {
		steps = append(steps, remedy.Cordon{Nodes: shut})
	}
	moves, _, _ := d.Move(now, true)
	steps = append(steps, moves...)
	if len(e.leaked) > 0 {
		steps = append(steps, release{Addrs: e.leaked, Guards: d.Leaked})
	}
	r := remedy.Remedy{Pods: append(now, later...)}
	if len(r.Pods) > 0 {
		r.Cautions = append(r.Cautions, remedy.PodCaution)
	}
	if d.etcd {
		steps = append(steps, await{Block: e.Block, For: d.await()})
		r.Waits = []*remedy.Controller{kubeControllers}
	} else {
		steps = append(steps, check{Blocks: []netip.Prefix{e.Block}}, d.giveBack(e.Block, e.Owner))
		r.Cautions = append(r.Cautions, blockCaution)
	}
	waits := func(n string) bool { return n != first && slices.Contains(homeless, n) }
	open := slices.DeleteFunc(slices.Clone(shut), waits)
	if len(open) > 0 {
		steps = append(steps, remedy.Uncordon{Nodes: open, Claims: first})
	}
	if len(later) > 0 {
		moves, _, _ := d.Move(later, false)
		steps = append(steps, moves...)
	}
	if rest := slices.DeleteFunc(slices.Clone(shut), func(n string) bool { return !waits(n) }); len(rest) > 0 {
		steps = append(steps, remedy.Notice{Cordoned: rest})
	}
	r.Steps = steps
	return r
}

// blockless returns the further nodes on which a new pod would borrow or get no address, sorted.
func (d *drafts) blockless(homeless []string, four bool) []string {
	var out []string
	for name, n := range d.View.Truth.Nodes {
		if n.Up && n.Registered && !slices.Contains(homeless, name) && d.Facts.TakesPods(name) && !d.homes(name, four) && !d.claimable(name, four) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// await is how long calico-kube-controllers may take to give an empty block back: they
// scan at every half of the grace period, and give it back at the first scan that finds
// it to have been empty for that long.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go, acceptScheduleRequests;
// block_release_tracker.go (v3.31).
func (d *drafts) await() time.Duration { return 2*d.grace() + time.Minute }
