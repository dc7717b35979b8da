package route

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
)

// The topologies.
const (
	Mesh       = "mesh"
	Reflectors = "reflectors"
	ToR        = "tor"
)

var topologies = []string{Mesh, Reflectors, ToR}

// DefaultAS is the AS number of Calico's nodes unless BGPConfiguration says
// otherwise. Source: confd/pkg/backends/calico/client.go, globalDefaults (v3.31).
const DefaultAS = 64512

// Fabric is the network around the nodes, and the BGP sessions. The zero value is Calico's default:
// a full mesh of iBGP sessions between nodes.
//
// Every subnet of a node's address has one router. Its address is the subnet's first, and it is the
// nodes' default gateway. The routers know each other's subnets. They run BGP only with topology
// tor.
type Fabric struct {
	Topology string `json:"topology,omitempty" jsonschema:"enum=mesh,enum=reflectors,enum=tor"`
	// AS number of the nodes; default 64512.
	AS uint32 `json:"as,omitempty"`
	// Reflectors are the nodes that reflect routes for all others (topology reflectors).
	Reflectors []string `json:"reflectors,omitempty"`
	// TopOfRack says how the routers behave (topology tor).
	TopOfRack TopOfRack `json:"tor,omitzero"`
	// NoDefaultRoute lists the nodes without one; "*": none has one.
	NoDefaultRoute []string `json:"noDefaultRoute,omitempty"`
	// Down are sessions that never come up.
	Down []Session `json:"down,omitempty"`
	// Device is the nodes' interface; default eth0.
	Device string `json:"device,omitempty"`
}

// TopOfRack are the routers of topology tor: each node has an eBGP session with
// the router of its subnet, and the routers have sessions with each other.
type TopOfRack struct {
	// AS number of the first router, in order of subnets; the next one has one more.
	// Default 65001.
	AS uint32 `json:"as,omitempty"`
	// ASNumbers are the numbers of the routers, in order of subnets, if they do not follow from AS.
	// A router beyond the last has its number from AS.
	ASNumbers []uint32 `json:"asNumbers,omitempty"`
	// DistinctAS gives every node its own AS number, counting up from the fabric's in order of
	// names. Otherwise all nodes share one, and drop routes that have already passed through one of
	// them.
	DistinctAS bool `json:"distinctAS,omitempty"`
	// MaxLength is the longest prefix that a router takes: 26 drops host routes.
	// 0: any. With MaxLengthBetween it is dropped between routers only. MaxLength6 is
	// that of IPv6: 122 is a block of Calico's.
	MaxLength        int  `json:"maxLength,omitempty"`
	MaxLength6       int  `json:"maxLength6,omitempty"`
	MaxLengthBetween bool `json:"maxLengthBetween,omitempty"`
	// DefaultOnly routers announce nothing to nodes: nodes use their default route.
	DefaultOnly bool `json:"defaultOnly,omitempty"`
	// AllowLocalAS is how often a node's own AS number may be in a path
	// (numAllowedLocalASNumbers of BGPPeer).
	AllowLocalAS int `json:"allowLocalAS,omitempty"`
	// ASOverride routers take the nodes' AS number out of the paths they pass on.
	ASOverride bool `json:"asOverride,omitempty"`
	// Mesh keeps the node-to-node mesh beside the routers. Nodes share one AS then.
	Mesh bool `json:"mesh,omitempty"`
}

// Session is a BGP session between two speakers, by their names: nodes, or
// routers as Fabric.Routers names them. A node can stand for all of its sessions
// with B "".
type Session struct {
	A string `json:"a" jsonschema:"required"`
	B string `json:"b,omitempty"`
}

// Check reports an error in the fabric, for a cluster of these nodes: the field as it is spelled in
// a file, and the problem; "", "" if there is none. The addresses of routers are unknown here, so a
// session may name any router or tor.
func (f *Fabric) Check(nodes []string) (field, problem string) {
	unknown := func(name string) string {
		return fmt.Sprintf("no node %q", name)
	}
	if f.Topology != "" && !slices.Contains(topologies, f.Topology) {
		return "topology", fmt.Sprintf("unknown topology %q, want one of %s", f.Topology, strings.Join(topologies, ", "))
	}
	if f.Topology == Reflectors && len(f.Reflectors) == 0 {
		return "reflectors", "topology reflectors needs at least one node that reflects"
	}
	if f.Topology != Reflectors && len(f.Reflectors) > 0 {
		return "reflectors", "reflectors are for topology reflectors"
	}
	for i, r := range f.Reflectors {
		if !slices.Contains(nodes, r) {
			return fmt.Sprintf("reflectors[%d]", i), unknown(r)
		}
	}
	if field, problem = f.checkTopOfRack(); field != "" {
		return field, problem
	}
	for i, n := range f.NoDefaultRoute {
		if n != "*" && !slices.Contains(nodes, n) {
			return fmt.Sprintf("noDefaultRoute[%d]", i), unknown(n)
		}
	}
	return CheckSessions("down", f.Down, nodes)
}

func (f *Fabric) checkTopOfRack() (field, problem string) {
	t := f.TopOfRack
	switch {
	case f.Topology != ToR && !reflect.ValueOf(t).IsZero():
		return "tor", "tor is for topology tor"
	case t.MaxLength < 0 || t.MaxLength > 32:
		return "tor.maxLength", fmt.Sprintf("%d is no prefix length, want 0 to 32", t.MaxLength)
	case t.MaxLength6 < 0 || t.MaxLength6 > 128:
		return "tor.maxLength6", fmt.Sprintf("%d is no prefix length of IPv6, want 0 to 128", t.MaxLength6)
	case t.MaxLengthBetween && t.MaxLength == 0 && t.MaxLength6 == 0:
		return "tor.maxLengthBetween", "needs maxLength or maxLength6"
	case t.AllowLocalAS < 0 || t.AllowLocalAS > 10:
		return "tor.allowLocalAS", "want 0 to 10, as numAllowedLocalASNumbers" // libcalico-go, BGPPeerSpec
	case t.Mesh && t.DistinctAS:
		return "tor.mesh", "a mesh beside the routers needs one AS number for all nodes, not distinctAS"
	}
	return "", ""
}

// CheckSessions is Check for a list of sessions in the named field.
func CheckSessions(field string, sessions []Session, nodes []string) (at, problem string) {
	known := func(n string) bool {
		return slices.Contains(nodes, n) || strings.HasPrefix(n, ToR) || strings.HasPrefix(n, "router")
	}
	for i, s := range sessions {
		where := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case !known(s.A):
			return where + ".a", fmt.Sprintf("no node or router %q", s.A)
		case s.B != "" && !known(s.B):
			return where + ".b", fmt.Sprintf("no node or router %q", s.B)
		case s.A == s.B:
			return where + ".b", "a session needs two ends"
		}
	}
	return "", ""
}

// Router is the gateway of one subnet.
type Router struct {
	Name string       // tor1, tor2, … with topology tor, else router1, …
	Addr netip.Prefix // the subnet's first address, with its length
}

// Routers are the gateways of the nodes' subnets, sorted by subnet. A subnet whose first address
// belongs to a node has none.
func (f *Fabric) Routers(nodes []Node) []Router {
	var subnets []netip.Prefix
	for _, n := range nodes {
		if n.Addr.IsValid() && n.Addr.Bits() < n.Addr.Addr().BitLen()-1 {
			subnets = append(subnets, n.Addr.Masked())
		}
	}
	slices.SortFunc(subnets, comparePrefix)
	subnets = slices.DeleteFunc(slices.Compact(subnets), func(p netip.Prefix) bool {
		return slices.ContainsFunc(nodes, func(n Node) bool { return n.Addr.Addr() == p.Addr().Next() })
	})
	stem := "router"
	if f.Topology == ToR {
		stem = ToR
	}
	out := make([]Router, len(subnets))
	for i, s := range subnets {
		out[i] = Router{fmt.Sprintf("%s%d", stem, i+1), netip.PrefixFrom(s.Addr().Next(), s.Bits())}
	}
	return out
}

// device is the nodes' interface.
func (f *Fabric) device() string {
	if f.Device == "" {
		return "eth0"
	}
	return f.Device
}

func comparePrefix(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}
