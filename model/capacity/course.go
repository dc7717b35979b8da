package capacity

import "time"

// Never happened within the horizon.
const Never time.Duration = -1

// Course is what became of a cluster over its horizon.
type Course struct {
	Samples []Sample // at equal distances, the first at 0, the last at the horizon
	// Since is from when on the course counts: what was there at the beginning of a
	// cluster that runs, or happened on the way to what an option asks for, is told
	// apart. Never if the way did not end within the horizon.
	Since time.Duration `json:",omitempty"`
	// Exhausted is when an ADD was first refused, since then, because no address was
	// left that the node may hand out; Never if none was.
	Exhausted time.Duration
	Adds      int // ADDs, repeated ones included
	Refused   int // of these for want of an address, since Since
	// RefusedBefore are those before Since.
	RefusedBefore int `json:",omitempty"`
	// Migration is what became of the cluster's; nil if it has none.
	Migration *Migration `json:",omitempty"`
	Peak      int        // the most addresses in use at any time
	// Chance is when upstream first left something to the Go runtime that others may
	// notice (which one of a node's empty blocks stays), so that from here on the real
	// code may live another life; 0 if it did not. Only the reference can tell.
	Chance time.Duration `json:",omitempty"`
	// Calls is how many requests reached the datastore, and AddMedian and AddP99 are
	// how long an ADD took: with the real code only, else 0.
	Calls             int
	AddMedian, AddP99 time.Duration
	// Owners is whose each block is at each sample, for pools of at most ownersMax
	// blocks: by sample, then block in the order of prefixes; 0 is nobody, otherwise
	// the node's number plus 1. Nil for larger ones.
	Owners [][]int32 `json:",omitempty"`
	// Violations by invariant: with the real code only.
	Violations map[string]int `json:",omitempty"`
	Digest     string         `json:",omitempty"` // of the run, with the real code only
}

// Judged are the samples since Since.
func (c *Course) Judged() []Sample {
	if c.Since == Never {
		return nil
	}
	n := 0
	for n < len(c.Samples) && c.Samples[n].At < c.Since {
		n++
	}
	return c.Samples[n:]
}

// Wanted counts an ADD that was refused for want of an address.
func (c *Course) Wanted(at time.Duration) {
	if c.Since == Never || at < c.Since {
		c.RefusedBefore++
		return
	}
	c.Refused++
	if c.Exhausted == Never {
		c.Exhausted = at
	}
}

// Certain are the samples before Chance: with the real code they are the same.
func (c *Course) Certain() []Sample {
	if c.Chance == 0 {
		return c.Samples
	}
	n := 0
	for n < len(c.Samples) && c.Samples[n].At < c.Chance {
		n++
	}
	return c.Samples[:n]
}

// ownersMax is up to how many blocks an ownership map is kept and can be drawn.
const ownersMax = 256

// Sample is what there is at an instant. A policy is judged for each node that is
// up.
type Sample struct {
	At      time.Duration
	Nodes   int // that are up
	Pods    int // that are bound to a node that is up
	Waiting int // of these: without an address
	// Unplaced is how many more are meant to run and no node has room for.
	Unplaced int

	// Size is how many addresses pools have that are not disabled, or ranges, without
	// reserved and excluded ones.
	Size   int
	InUse  int // claimed, by whomever, wherever
	Leaked int // of these: nobody's, or of a sandbox or a Node object that is no more
	// Stranded is how many free addresses the average node could not be given under
	// the policy: in blocks of others where affinity is strict, or beyond its limit of
	// blocks, or in slices of others.
	Stranded float64

	Blocks      int // that exist
	EmptyBlocks int // of these: no address in use
	BlocksMax   int // the most that name one node as their owner
	Starved     int // nodes up without a block (of a family that pods need) for which none is left to claim
	Borrowed    int // addresses claimed for another node than their block's, or in a block that is nobody's
	Blackholed  int // pairs of a node that is up and a live address that it cannot reach
	// Routes is how many prefixes nodes that are up announce, of pools that are
	// exported: their confirmed affinities, and addresses of their pods and devices
	// that lie in none of them.
	Routes int
	Stale  int // affinities of nodes without a Node object
	// NodePorts are those that Services have, and InBand the cluster IPs that were handed out
	// although they are kept for who asks for a certain one.
	NodePorts int `json:",omitempty"`
	InBand    int `json:",omitempty"`
	// Six is what of it is IPv6, where pods get addresses of both families from blocks:
	// otherwise nothing.
	Six Part `json:",omitzero"`
}

// Part is one address family's part of a Sample.
type Part struct {
	Size, Blocks, Blackholed, Routes int
	InBlocks                         int // addresses in its blocks
	Used                             int // of these: claimed
}

// Waste is the share of the addresses in its blocks that nobody claims, or of all where
// there are no blocks.
func (p *Part) Waste() float64 {
	have := p.InBlocks
	if p.Blocks == 0 {
		have = p.Size
	}
	if have == 0 {
		return 0
	}
	return 1 - float64(p.Used)/float64(have)
}

// Waste is the share of the addresses in blocks that nobody uses, or of all where
// there are no blocks. What has leaked is nobody's.
func (s *Sample) Waste(blockSize int) float64 {
	have := s.Blocks * blockSize
	if s.Blocks == 0 {
		have = s.Size
	}
	if have == 0 {
		return 0
	}
	return 1 - float64(s.InUse-s.Leaked)/float64(have)
}
