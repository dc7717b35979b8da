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

// PodFunc is Pods of which any may have changed.
type PodFunc func(model.PodRef) (p Pod, exists bool)

// Pod asks the function.
func (f PodFunc) Pod(ref model.PodRef) (Pod, bool) { return f(ref) }

// Changed says that any may have.
func (f PodFunc) Changed() ([]model.PodRef, bool) { return nil, true }

// Collector is the memory of one garbage collector: since when it has taken which
// allocation for leaked and which block for spare. It learns of blocks, nodes and
// pods when a pass begins, as the pass ipam-gc of sim/ipam/calico does, which
// starts the real controller's scan; the controller itself hears of each change.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go and ipam_allocation.go,
// whose maps are the fields (v3.31).
type Collector struct {
	a     *Allocator
	grace time.Duration // 0: leaks and spare blocks are never released; below: leaks are not even noted

	blocks     map[netip.Prefix]*seenBlock          // allBlocks, allocationsByBlock
	byNode     map[string]map[id]*seen              // allocationState
	byHandle   map[string]map[id]*seen              // handleTracker
	confirmed  map[id]*seen                         // confirmedLeaks
	nodeOf     map[netip.Prefix]string              // nodesByBlock
	blocksOf   map[string]map[netip.Prefix]struct{} // blocksByNode
	empty      map[netip.Prefix]string              // emptyBlocks
	emptySince map[netip.Prefix]time.Duration       // blockReleaseTracker

	// What need not be looked at again: an allocation that was valid when its node
	// was alive stays so until its pod changes.
	byPod    map[model.PodRef][]*seen // those of byNode
	suspects map[*seen]struct{}       // of byNode: new, leaked, or of a pod that changed
	alive    map[string]bool          // nodes, as of the last pass

	pods Pods // of the pass that runs
	now  time.Duration
}

// id is how upstream tells allocations apart.
type id struct {
	handle string
	addr   netip.Addr
}

// seen is an allocation as the collector first saw it.
type seen struct {
	id
	allocation
	block    netip.Prefix
	sequence uint64
	there    bool          // Calico's node exists, as of the last scan
	leaked   bool          // a candidate, since
	since    time.Duration // that time
	sure     bool          // confirmedLeak
}

type seenBlock struct {
	instance *block
	seq      uint64
	held     map[uint16]*seen
}

// Never is the grace period of a configuration that does not mention the node
// controller.
const Never time.Duration = -1

// NewCollector is a garbage collector that has just started. A change of its grace
// period (leakGracePeriod, 15 minutes by default) starts it anew.
func NewCollector(a *Allocator, grace time.Duration) *Collector {
	return &Collector{
		a: a, grace: grace, blocks: map[netip.Prefix]*seenBlock{}, byNode: map[string]map[id]*seen{}, byHandle: map[string]map[id]*seen{},
		confirmed: map[id]*seen{}, nodeOf: map[netip.Prefix]string{}, blocksOf: map[string]map[netip.Prefix]struct{}{},
		empty: map[netip.Prefix]string{}, emptySince: map[netip.Prefix]time.Duration{},
		byPod: map[model.PodRef][]*seen{}, suspects: map[*seen]struct{}{}, alive: map[string]bool{},
	}
}

// learn is what the data feed tells the controller: all blocks, and the end of
// those that were there before.
func (c *Collector) learn() {
	for p, b := range c.a.blocks {
		c.learnBlock(p, b)
	}
	for p := range c.blocks {
		if c.a.blocks[p] == nil {
			c.learnGone(p)
		}
	}
}

// learnBlock is onBlockUpdated. A block that went from one node to another stays
// counted for the first one too.
func (c *Collector) learnBlock(p netip.Prefix, b *block) {
	s := c.blocks[p]
	if s == nil {
		s = &seenBlock{held: map[uint16]*seen{}}
		c.blocks[p] = s
	}
	if s.instance == b && s.seq == b.seq {
		return // every change of a block is a write
	}
	s.instance, s.seq = b, b.seq
	node := ""
	if b.owner != nil {
		node = b.owner.name
		c.nodeOf[p] = node
		if c.blocksOf[node] == nil {
			c.blocksOf[node] = map[netip.Prefix]struct{}{}
		}
		c.blocksOf[node][p] = struct{}{}
	} else if was, ok := c.nodeOf[p]; ok {
		delete(c.nodeOf, p)
		delete(c.blocksOf[was], p)
	}
	c.learnAllocations(p, b, s)
	delete(c.empty, p)
	if node == "" {
		return
	}
	if b.taken == 0 {
		c.empty[p] = node
	} else {
		delete(c.emptySince, p)
	}
}

// learnAllocations tells what a block holds from what it held. An address that was
// released and given to the same handle again is the old one to the controller,
// sequence number included.
func (c *Collector) learnAllocations(p netip.Prefix, b *block, s *seenBlock) {
	for o, x := range b.held {
		old := s.held[uint16(o)]
		if old != nil && (x == nil || x.handle != old.id.handle) {
			c.untrack(old)
			delete(s.held, uint16(o))
			c.release(old)
			delete(c.confirmed, old.id)
			old = nil
		}
		if x == nil || old != nil {
			continue
		}
		n := &seen{id: id{x.handle, b.nth(uint16(o))}, allocation: *x, block: p, sequence: b.since[o]}
		s.held[uint16(o)] = n
		if n.node != "" {
			put(c.byNode, n.node, n)
			c.byPod[n.pod] = append(c.byPod[n.pod], n)
			c.suspects[n] = struct{}{}
		}
		put(c.byHandle, n.id.handle, n)
	}
}

func put(in map[string]map[id]*seen, key string, s *seen) {
	if in[key] == nil {
		in[key] = map[id]*seen{}
	}
	in[key][s.id] = s
}

func (c *Collector) untrack(s *seen) {
	of := c.byHandle[s.id.handle]
	if delete(of, s.id); len(of) == 0 {
		delete(c.byHandle, s.id.handle)
	}
}

// release is allocationState.release.
func (c *Collector) release(s *seen) {
	of := c.byNode[s.node]
	if delete(of, s.id); len(of) == 0 {
		delete(c.byNode, s.node)
	}
	delete(c.suspects, s)
	rest := slices.DeleteFunc(c.byPod[s.pod], func(x *seen) bool { return x.id == s.id })
	if c.byPod[s.pod] = rest; len(rest) == 0 {
		delete(c.byPod, s.pod)
	}
}

// learnGone is onBlockDeleted, which forgets to tell the handles: an address that
// the block held keeps its handle's other ones from being taken for leaked.
func (c *Collector) learnGone(p netip.Prefix) {
	for _, s := range c.blocks[p].held {
		c.release(s)
	}
	c.forgetBlock(p)
	delete(c.blocks, p)
}

func (c *Collector) forgetBlock(p netip.Prefix) {
	c.blocks[p].instance = nil // learn it anew if it should still be there
	if n := c.nodeOf[p]; n != "" {
		delete(c.blocksOf[n], p)
	}
	delete(c.nodeOf, p)
	delete(c.empty, p)
	delete(c.emptySince, p)
}
