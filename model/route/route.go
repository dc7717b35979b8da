// Package route computes how packets travel: the routing table of every node and
// router, and the path of a packet to an address and back. Topologies only produce
// tables; the walk through the tables finds blackholes.
//
// It is pure: no I/O, no goroutine, no upstream code. Tests in sim/ipam/calico compare
// it with Calico's own templates and Felix; the lab (cmd/calico/lab) compares it with
// real BIRD and a real kernel.
//
// A Plane holds the routes of one address family, a Network those of both: BIRD and
// bird6 are two daemons, each with its own sessions, filters and table.
package route

import (
	"net/netip"
	"time"

	"ipamsim/model"
	"ipamsim/model/route/fib"
)

// Facts are what routes of one address family are made of, at one instant. Every
// address in them is of that family.
type Facts struct {
	Nodes      []Node  // sorted by name
	Local      []Local // in any order
	Affinities []model.Affinity
	Pools      []model.IPPool
	// Blocks as the datastore has them, which is what Felix makes VXLAN routes of.
	// BlocksOf reads them from a record.
	Blocks []Block
	// Down are BGP sessions that are lost now, in addition to those of the fabric.
	Down []Session
}

// Node is a machine that forwards packets.
type Node struct {
	Name string
	Addr netip.Prefix // its own address with its subnet's length
	// ID is the router id of its BIRD: in IPv6 too, it is four octets. None: Addr in
	// IPv4, RouterID of Name in IPv6.
	ID netip.Addr
	// Up: it has power. BIRD: its routing daemon runs. Felix: its agent runs, which
	// makes the routes of VXLAN pools.
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

// Block is one block in the datastore: its owner, and the addresses that other nodes have.
type Block struct {
	Prefix   netip.Prefix
	Node     string // "" if it has no owner
	Borrowed []Borrowed
}

// Borrowed is an address of a block that was handed out for another node than
// the block's own.
type Borrowed struct {
	Addr netip.Addr
	Node string
}

// BlocksOf are the blocks of a record, in its order.
func BlocksOf(s model.Snapshot) []Block {
	out := make([]Block, len(s.Pools))
	at := make(map[string]int, len(s.Pools))
	for i, p := range s.Pools {
		out[i], at[p.Name] = Block{Prefix: p.Range, Node: p.Node}, i
	}
	for _, c := range s.Claims {
		if i, ok := at[c.Pool]; ok && c.Node != "" && c.Node != out[i].Node {
			out[i].Borrowed = append(out[i].Borrowed, Borrowed{c.Addr, c.Node})
		}
	}
	return out
}

// Loss is an address that a node cannot reach, although its pod is alive.
type Loss struct {
	From  string     // the node whose packets are lost
	To    netip.Addr // the pod's address
	On    string     // the pod's node
	At    string     // where they end: a node or a router
	How   fib.End
	Route string       // the route that swallows them, as ip route prints it, or "" if none matches
	Dst   netip.Prefix // of that route
	Back  bool         // it is the answer that is lost
	Some  bool         // some flows only: several equal ways, not all of them lost
	Since time.Duration
}
