package calico

import (
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
)

// Pod is what a collector looks at of a pod that exists.
type Pod struct {
	Node     string // "": not scheduled
	Addrs    []netip.Addr
	Finished bool // succeeded or failed, or being deleted and without its network: it has no address
}

// Pods is what the API server has of pods.
type Pods interface {
	Pod(model.PodRef) (p Pod, exists bool)
	// Changed lists the pods that may have become something else since the last
	// pass, so that a pass need not look at every one; all says that any may.
	Changed() (some []model.PodRef, all bool)
}

// PodFunc is a Pods in which any pod may have changed.
type PodFunc func(model.PodRef) (p Pod, exists bool)

// Pod asks the function.
func (f PodFunc) Pod(ref model.PodRef) (Pod, bool) { return f(ref) }

// Changed says that any may have.
func (f PodFunc) Changed() ([]model.PodRef, bool) { return nil, true }

// Collector is the memory of one garbage collector: since when it has considered an allocation as
// leaked and a block as spare. It learns of blocks, nodes and pods when a pass begins, as the pass
// ipam-gc of sim/ipam/calico does, which starts the real controller's scan; the controller itself
// receives each change.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go and ipam_allocation.go,
// whose maps are the fields (v3.31).
type Collector struct {
	// Choices counts how often upstream chose at random which of a node's empty blocks stays.
	Choices int

	a     *Allocator
	grace time.Duration // 0: leaks and spare blocks are never released; below: leaks are not even noted

	blocks     map[netip.Prefix]*seenBlock          // allBlocks, allocationsByBlock, nodesByBlock
	byNode     map[string]seenSet                   // allocationState
	byHandle   map[string]seenSet                   // handleTracker
	confirmed  map[id]*seen                         // confirmedLeaks
	blocksOf   map[string]map[netip.Prefix]struct{} // blocksByNode
	empty      map[netip.Prefix]string              // emptyBlocks
	emptySince map[netip.Prefix]time.Duration       // blockReleaseTracker

	// What need not be looked at again: an allocation that was valid when its node
	// was alive stays so until its pod changes.
	byPod    map[model.PodRef][]*seen // those of byNode
	suspects map[*seen]struct{}       // of byNode: new, leaked, or of a pod that changed
	owning   map[string]int           // how many blocks are counted for a node
	alive    map[string]bool          // nodes that were, in the last pass
	pending  map[string]struct{}      // nodes to check in the next pass

	pods Pods // of the pass that runs
	now  time.Duration
}

// id identifies an allocation, as upstream does.
type id struct {
	handle string
	addr   netip.Addr
}

// seen is an allocation as the collector first saw it.
type seen struct {
	id
	user
	sequence uint64
	there    bool          // Calico's node exists, as of the last scan
	leaked   bool          // a candidate, since
	since    time.Duration // that time
	sure     bool          // confirmedLeak
}

// seenBlock is a block as the collector last saw it.
type seenBlock struct {
	version uint64 // 0: it has to be looked at again
	birth   uint64
	owned   bool
	node    string // that owns it
	held    []*seen
	since   []uint32
}

// seenSet is allocations, of each id one.
type seenSet []*seen

// with replaces the element with the id of s by s.
func (all seenSet) with(s *seen) seenSet {
	if i := all.index(s.id); i >= 0 {
		all[i] = s
		return all
	}
	return append(all, s)
}

func (all seenSet) index(x id) int {
	return slices.IndexFunc(all, func(s *seen) bool { return s.id == x })
}

func (all seenSet) without(x id) seenSet {
	i := all.index(x)
	if i < 0 {
		return all
	}
	last := len(all) - 1
	all[i], all[last] = all[last], nil
	return all[:last]
}

// Never is the grace period of a configuration that does not mention the node
// controller.
const Never time.Duration = -1

// NewCollector returns a garbage collector that has just started. Changing its grace period
// (leakGracePeriod, 15 minutes by default) restarts it.
func NewCollector(a *Allocator, grace time.Duration) *Collector {
	return &Collector{
		a: a, grace: grace, blocks: map[netip.Prefix]*seenBlock{}, byNode: map[string]seenSet{}, byHandle: map[string]seenSet{},
		confirmed: map[id]*seen{}, blocksOf: map[string]map[netip.Prefix]struct{}{},
		empty: map[netip.Prefix]string{}, emptySince: map[netip.Prefix]time.Duration{},
		byPod: map[model.PodRef][]*seen{}, suspects: map[*seen]struct{}{}, owning: map[string]int{}, alive: map[string]bool{},
		pending: map[string]struct{}{},
	}
}

// learn processes what the data feed delivers to the controller: all blocks, and deletions of
// earlier ones. For the collector that made the latest pass these are only the blocks written since
// then, and the nodes that were added or removed.
func (c *Collector) learn() {
	changed := c.a.noted
	if c.a.listener != c {
		c.a.listener, changed = c, slices.Clone(c.a.sorted)
		for p := range c.blocks {
			if c.a.block(p) == nil {
				changed = append(changed, &block{prefix: p})
			}
		}
		for n := range c.a.hosts {
			c.pending[n] = struct{}{}
		}
		for n := range c.alive {
			c.pending[n] = struct{}{}
		}
	}
	for _, b := range changed {
		if b.exists {
			c.learnBlock(b)
		}
	}
	for _, b := range changed {
		if c.a.block(b.prefix) == nil && c.blocks[b.prefix] != nil {
			c.learnGone(b.prefix)
		}
	}
	for _, b := range c.a.noted {
		b.noted = false
	}
	for _, n := range c.a.turned {
		c.pending[n] = struct{}{}
	}
	c.a.noted, c.a.turned = c.a.noted[:0], c.a.turned[:0]
}

// learnBlock is onBlockUpdated. A block that went from one node to another stays
// counted for the first one too.
func (c *Collector) learnBlock(b *block) {
	p := b.prefix
	s := c.blocks[p]
	if s == nil {
		s = &seenBlock{held: make([]*seen, len(b.slots)), since: make([]uint32, len(b.slots))}
		c.blocks[p] = s
	}
	if s.version == b.version() {
		return // every change of a block is a write
	}
	if b.owner != nil {
		c.own(s, true, b.owner.name)
		if c.blocksOf[s.node] == nil {
			c.blocksOf[s.node] = map[netip.Prefix]struct{}{}
		}
		c.blocksOf[s.node][p] = struct{}{}
	} else if s.owned {
		delete(c.blocksOf[s.node], p)
		c.own(s, false, "")
	}
	c.learnAllocations(b, s)
	s.version, s.birth = b.version(), b.birth
	delete(c.empty, p)
	if !s.owned {
		return
	}
	if b.taken == 0 {
		c.empty[p] = s.node
	} else {
		delete(c.emptySince, p)
	}
}

// own starts or stops counting a block for a node.
func (c *Collector) own(s *seenBlock, owned bool, node string) {
	if s.owned == owned && s.node == node {
		return
	}
	if s.owned {
		if c.owning[s.node]--; c.owning[s.node] == 0 {
			delete(c.owning, s.node)
		}
	}
	if s.owned, s.node = owned, node; owned {
		c.owning[node]++
		c.pending[node] = struct{}{}
	}
}

// learnAllocations updates the allocations of a block. To the controller, an address that was
// released and assigned to the same handle again is the old allocation, sequence number
// included.
func (c *Collector) learnAllocations(b *block, s *seenBlock) {
	for o := range b.slots {
		x, old := b.slots[o].handle, s.held[o]
		if (old == nil) == (x == nil) && s.since[o] == b.slots[o].since && s.birth == b.birth {
			continue // unchanged
		}
		s.since[o] = b.slots[o].since
		if old != nil && (x == nil || x.card.id != old.handle) {
			c.untrack(old)
			s.held[o] = nil
			c.release(old)
			delete(c.confirmed, old.id)
			old = nil
		}
		if x == nil || old != nil {
			continue
		}
		n := &seen{id: id{x.card.id, b.nth(uint16(o))}, user: b.user(uint16(o)), sequence: b.sequence(uint16(o))}
		s.held[o] = n
		if n.node != "" {
			c.byNode[n.node] = c.byNode[n.node].with(n)
			c.byPod[n.pod] = append(c.byPod[n.pod], n)
			c.suspects[n] = struct{}{}
		}
		c.byHandle[n.handle] = c.byHandle[n.handle].with(n)
	}
}

func (c *Collector) untrack(s *seen) {
	if c.byHandle[s.handle] = c.byHandle[s.handle].without(s.id); len(c.byHandle[s.handle]) == 0 {
		delete(c.byHandle, s.handle)
	}
}

// release is allocationState.release.
func (c *Collector) release(s *seen) {
	if c.byNode[s.node] = c.byNode[s.node].without(s.id); len(c.byNode[s.node]) == 0 {
		delete(c.byNode, s.node)
	}
	delete(c.suspects, s)
	rest := slices.DeleteFunc(c.byPod[s.pod], func(x *seen) bool { return x.id == s.id })
	if c.byPod[s.pod] = rest; len(rest) == 0 {
		delete(c.byPod, s.pod)
	}
}

// learnGone is onBlockDeleted, which does not update the handles: because of an address that
// the block held, the handle's other addresses are not taken for leaked.
func (c *Collector) learnGone(p netip.Prefix) {
	for _, s := range c.blocks[p].held {
		if s != nil {
			c.release(s)
		}
	}
	c.forgetBlock(p)
	delete(c.blocks, p)
}

func (c *Collector) forgetBlock(p netip.Prefix) {
	s := c.blocks[p]
	if s.owned && s.node != "" {
		delete(c.blocksOf[s.node], p)
	}
	c.own(s, false, "")
	delete(c.empty, p)
	delete(c.emptySince, p)
	if s.version = 0; c.a.block(p) != nil {
		c.a.note(c.a.block(p)) // learn it again
	}
}
