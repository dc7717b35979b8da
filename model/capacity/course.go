package capacity

import "time"

// Never means not within the horizon.
const Never time.Duration = -1

// Course is the result of one trial: a cluster over its horizon.
type Course struct {
	Samples []Sample // equidistant, the first at 0, the last at the horizon
	// Since is the time from which the course counts: the initial state of a running cluster
	// and its migration to the option are reported separately. Never if the migration did
	// not finish within the horizon.
	Since time.Duration `json:",omitempty"`
	// Exhausted is the time of the first ADD after Since that was refused because the node
	// had no free address; Never if none was.
	Exhausted time.Duration
	Adds      int // ADDs, including retries
	Refused   int // of these refused after Since because no address was free
	// RefusedBefore counts those before Since.
	RefusedBefore int `json:",omitempty"`
	// Migration is the result of the migration; nil if there is none.
	Migration *Migration `json:",omitempty"`
	Peak      int        // the maximum of addresses in use
	// Chance is the time of upstream's first observable decision that depends on the Go
	// runtime (which of a node's empty blocks it keeps). From then on the real code may
	// differ. 0 if there was none. Only the reference detects it.
	Chance time.Duration `json:",omitempty"`
	// Calls counts the requests to the datastore. AddMedian and AddP99 are durations of an
	// ADD. With the real code only, otherwise 0.
	Calls             int
	AddMedian, AddP99 time.Duration
	// Owners holds the owner of each block at each sample, for pools of at most ownersMax
	// blocks: by sample, then block in the order of prefixes; 0 for none, otherwise the
	// node's number plus 1. Nil for larger pools.
	Owners [][]int32 `json:",omitempty"`
	// Violations by invariant: with the real code only.
	Violations map[string]int `json:",omitempty"`
	Digest     string         `json:",omitempty"` // of the run, with the real code only
}

// Judged returns the samples from Since on.
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

// Wanted counts an ADD that was refused because no address was free.
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

// Certain returns the samples before Chance, which are equal with the real code.
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

// ownersMax is the maximum number of blocks for Owners.
const ownersMax = 256

// Sample is the state at an instant. Policies are judged for nodes that are up.
type Sample struct {
	At      time.Duration
	Nodes   int // that are up
	Pods    int // that are bound to a node that is up
	Waiting int // of these: without an address
	// Unplaced counts pods that should run and fit on no node.
	Unplaced int

	// Size counts the addresses of enabled pools, or of ranges, without reserved and excluded
	// ones.
	Size   int
	InUse  int // claimed
	Leaked int // of these: without an owner, or of a sandbox or Node that is gone
	// Stranded counts the free addresses that the policy does not allow the average node to
	// use: in blocks of other nodes with strict affinity, beyond its limit of blocks, or in
	// slices of other nodes.
	Stranded float64

	Blocks      int // that exist
	EmptyBlocks int // of these: no address in use
	BlocksMax   int // the maximum for one node
	Starved     int // nodes up without a block (of a family that pods need) that find none to claim
	Borrowed    int // addresses claimed for another node than their block's, or in a block without an owner
	Blackholed  int // pairs of a node that is up and a live address that it cannot reach
	// Routes counts the prefixes of exported pools that nodes announce: their confirmed
	// affinities, and the addresses of their pods and devices outside of these.
	Routes int
	Stale  int // affinities of nodes without a Node object
	// NodePorts counts the node ports of Services. InBand counts cluster IPs in the static band
	// that Services have without requesting them.
	NodePorts int `json:",omitempty"`
	InBand    int `json:",omitempty"`
	// Six is the IPv6 part, if pods get addresses of both families from blocks.
	Six Part `json:",omitzero"`
}

// Part is one address family's part of a Sample.
type Part struct {
	Size, Blocks, Blackholed, Routes int
	InBlocks                         int // addresses in its blocks
	Used                             int // of these: claimed
}

// Waste returns the share of addresses in blocks that are not claimed, or of all addresses if
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

// Waste returns the share of addresses in blocks that are unused or leaked, or of all addresses if
// there are no blocks.
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
