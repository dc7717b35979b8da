// Package route computes what a packet meets: the routing table of every node and
// router, and the way an address takes through them, there and back. Topologies
// only produce tables; a blackhole is what the walk says.
//
// It is pure: no I/O, no goroutine, no upstream code. That it agrees with what
// Calico's own templates and Felix produce is shown by tests elsewhere.
package route

import (
	"net/netip"
	"time"

	"ipamsim/model"
)

// Facts are what routes are made of, at one instant.
type Facts struct {
	Nodes      []Node // sorted by name
	Local      []Local
	Affinities []model.Affinity
	Pools      []model.IPPool
}

// Node is a machine that forwards packets.
type Node struct {
	Name string
	Addr netip.Prefix // its own address with its subnet's length
	// Up: it has power. BIRD: its routing daemon runs. Felix: its agent runs, which
	// makes the routes of pods.
	Up, BIRD, Felix bool
	// Tunnel is the address of its IPIP or VXLAN device, if it has one.
	Tunnel netip.Addr
}

// Local is one address that a node delivers itself: a pod's.
type Local struct {
	Node string
	Addr netip.Addr
	Dev  string // cali1234abcd
}

// Loss is an address that a node cannot reach, although its pod is alive.
type Loss struct {
	From  string     // the node whose packets are lost
	To    netip.Addr // the pod's address
	At    string     // where they end: a node or a router
	Route string     // the route that swallows them, as ip route prints it, or "" if none matches
	Back  bool       // it is the answer that is lost
	Some  bool       // some flows only: several equal ways, not all of them lost
	Since time.Duration
}
