package model

import (
	"net/netip"
	"time"
)

// Snapshot is the record at one instant: the claims in the address manager's datastore.
type Snapshot struct {
	At time.Duration
	// Pools are sorted by network, then range.
	Pools []Pool
	// Claims are sorted by pool, then address.
	Claims []Claim
	// Reservations across overlapping ranges, sorted by network, then address.
	Reservations []Reservation
	// Affinities of nodes to blocks, sorted by block, then node.
	Affinities []Affinity
	// Handles, sorted by id.
	Handles []Handle
	// Networks is the policy as the datastore has it at this instant, for a
	// manager that keeps it there. Nil: the scenario's manifests define it.
	Networks []Network
	// Waiting is the order in which the free addresses of blocks will be handed out,
	// sorted by block. The order of a missing block is unknown. Oracles do not use it;
	// reference/calico's Restore does, to continue a cluster.
	Waiting []Waiting `json:",omitempty"`
	// Services is the record of Services, nil for a manager that does not handle them.
	Services *Services `json:",omitempty"`
}

// Waiting is the free list of one block, as ordinals in it: upstream's unallocated.
type Waiting struct {
	Block netip.Prefix
	Free  []int
}

// Pool is a set of addresses that claims are made from.
type Pool struct {
	Name    string // the object's name
	Network string // Whereabouts' network_name; "" when unnamed
	Range   netip.Prefix
	// Node is the owner of the pool: the node of a node slice, or the node that a block
	// names as its owner; "" if there is none.
	Node string
	// Strict is a block's own StrictAffinity, which is set when the block is created and never
	// changes.
	Strict bool
	// Lost, Twice and Ownerless count errors in a block's lists: addresses listed neither
	// as claimed nor as free; addresses listed as free although they are claimed or
	// already listed; and owners without an address.
	Lost, Twice, Ownerless int `json:",omitempty"`
}

// Claim is one address that is in use according to the datastore.
type Claim struct {
	Pool      string // Pool.Name
	Network   string
	Addr      netip.Addr
	Pod       PodRef
	Container string // container id
	Interface string
	Revision  int64  // of the object that holds the claim
	Handle    string // Calico: the handle by which the address is released
	Node      string // Calico: for which node it was handed out
	Tunnel    bool   // it is the node's own, for its IPIP, VXLAN or WireGuard device
	Service   string `json:",omitempty"` // NAMESPACE/NAME of the Service of whose load balancer it is an address
	Machine   string `json:",omitempty"` // NAMESPACE/NAME of the virtual machine that keeps it without a pod
	Alternate PodRef `json:",omitzero"`  // the second pod that has it while the virtual machine migrates
	// Torn: the owner of the address, which the manager should have written here, is
	// missing or lost. The address cannot be released.
	Torn bool `json:",omitempty"`
}

// Reservation guards one address across ranges that overlap.
type Reservation struct {
	Name      string // the object's name
	Network   string
	Addr      netip.Addr
	Pod       PodRef
	Interface string
}

// Network is what the configuration allows: the policy that allocations are checked against. It
// comes from the scenario's manifests.
type Network struct {
	Key     string // namespace/name of the NetworkAttachmentDefinition
	Name    string // Whereabouts' network_name; "" when unnamed
	Ranges  []Range
	Overlap bool // overlapping ranges are guarded by reservations
	Slice   int  // prefix length of node slices, 0 when off
	// Local: each node has its own layer-2 segment, as behind a bridge without an uplink: an
	// address in use on one node is free on the others.
	Local bool `json:",omitempty"`
	// Blocks is set for a network whose addresses come from blocks. Ranges are then all pools that
	// have existed in the run, so that an address of a deleted pool does not count as outside of
	// the network.
	Blocks *BlockPolicy
}

// Range is one address range of a network.
type Range struct {
	Prefix     netip.Prefix
	Start, End netip.Addr // first and last usable address, inclusive
	Exclude    []netip.Prefix
	// Slice is the prefix length of the part of it that every node is given when it
	// joins, whether or not it has pods; 0: nodes are not given any.
	Slice int `json:",omitempty"`
}

// Contains reports whether policy lets the address be handed out from r.
func (r Range) Contains(a netip.Addr) bool {
	if !r.Prefix.Contains(a) || a.Less(r.Start) || r.End.Less(a) {
		return false
	}
	for _, x := range r.Exclude {
		if x.Contains(a) {
			return false
		}
	}
	return true
}
