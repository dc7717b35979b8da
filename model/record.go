package model

import (
	"net/netip"
	"time"
)

// Snapshot is the record at one instant: what the address manager's datastore
// claims.
type Snapshot struct {
	At time.Duration
	// Pools are sorted by network, then range.
	Pools []Pool
	// Claims are sorted by pool, then address.
	Claims []Claim
	// Reservations across overlapping ranges, sorted by network, then address.
	Reservations []Reservation
}

// Pool is a set of addresses that claims are made from.
type Pool struct {
	Name    string // the object's name
	Network string // Whereabouts' network_name; "" when unnamed
	Range   netip.Prefix
	Node    string // the node a node slice belongs to, or ""
}

// Claim is one address the datastore says is in use.
type Claim struct {
	Pool      string // Pool.Name
	Network   string
	Addr      netip.Addr
	Pod       PodRef
	Container string // container id
	Interface string
	Revision  int64 // of the object that holds the claim
}

// Reservation guards one address across ranges that overlap.
type Reservation struct {
	Name      string // the object's name
	Network   string
	Addr      netip.Addr
	Pod       PodRef
	Interface string
}

// Network is what the configuration allows: the policy that allocations are
// judged by. It comes from the scenario's manifests.
type Network struct {
	Key     string // namespace/name of the NetworkAttachmentDefinition
	Name    string // Whereabouts' network_name; "" when unnamed
	Ranges  []Range
	Overlap bool // overlapping ranges are guarded by reservations
	Slice   int  // prefix length of node slices, 0 when off
}

// Range is one address range of a network.
type Range struct {
	Prefix     netip.Prefix
	Start, End netip.Addr // first and last usable address, inclusive
	Exclude    []netip.Prefix
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
