package capacity

import (
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
)

// Census holds the counts of blocks and addresses at an instant that a Sample reports.
type Census struct {
	InUse, Leaked     int // addresses, see Sample
	NodePorts, InBand int // see Sample

	// Of networks with blocks, which are in the order of their prefixes.
	Blocks     []model.BlockUse
	Affinities []model.Affinity
	// Devices that have an address, in the order of nodes.
	Devices []Device

	// Of networks without blocks.
	Pools  []model.Pool
	Claims []model.Claim
}

// Device is a node's own address of a pool.
type Device struct {
	Node int32 // its number
	Addr netip.Addr
}

// snapshot is the state of a cluster at an instant, as far as a Sample reports it.
type snapshot struct {
	Census
	networks      []model.Network
	nodes         []nodeState
	at            map[string]int // nodes by name
	pods, waiting int
	live          []holding
	blackholed    [2]int // in IPv4 and in IPv6
	stranded      int    // addresses in parts, over all nodes that are up
}

// nodeState is one node.
type nodeState struct {
	name           string
	addr, addr6    netip.Prefix // not valid: see nodeAddr
	up, registered bool
	tunnel         [2]netip.Addr // IPv4 and IPv6
}

// holding is an address that a pod, or a device, of a node has.
type holding struct {
	node   int
	addr   netip.Addr
	device bool
}

func (s *snapshot) sees(n nodeState) {
	if s.at == nil {
		s.at = map[string]int{}
	}
	s.at[n.name] = len(s.nodes)
	s.nodes = append(s.nodes, n)
}

// device is a node's own address of a pool.
func (s *snapshot) device(node int, a netip.Addr) {
	n := &s.nodes[node]
	if !n.up {
		return
	}
	s.live = append(s.live, holding{node, a, true})
	if t := &n.tunnel[model.Family(a)]; !t.IsValid() {
		*t = a
	}
}

// sample measures the scene.
func (s *snapshot) sample(at time.Duration) Sample {
	out := Sample{At: at, Pods: s.pods, Waiting: s.waiting, InUse: s.InUse, Leaked: s.Leaked, NodePorts: s.NodePorts, InBand: s.InBand, Blackholed: s.blackholed[0] + s.blackholed[1]}
	for i := range s.nodes {
		if s.nodes[i].up {
			out.Nodes++
		}
	}
	for i := range s.networks {
		if n := &s.networks[i]; n.Blocks != nil {
			for _, v4 := range []bool{true, false} {
				if v4 && n.Blocks.V4 || !v4 && n.Blocks.V6 {
					s.family(n, v4, &out)
				}
			}
			s.announced(n, &out)
		}
	}
	s.ranges(&out)
	if out.Nodes > 0 {
		out.Stranded = float64(s.stranded) / parts / float64(out.Nodes)
	}
	s.count(&out)
	if slices.ContainsFunc(s.networks, func(n model.Network) bool { return n.Blocks != nil && n.Blocks.V4 && n.Blocks.V6 }) {
		s.six(&out.Six)
	} else {
		out.Six = Part{}
	}
	return out
}

// six are the measurements of IPv6, except Size and Routes.
func (s *snapshot) six(out *Part) {
	out.Blackholed = s.blackholed[1]
	for i := range s.Blocks {
		if b := &s.Blocks[i]; b.Prefix.Addr().Is6() {
			out.Blocks++
			out.InBlocks += Addresses(b.Prefix)
			out.Used += b.InUse
		}
	}
}

// count is what there is to count of blocks.
func (s *snapshot) count(out *Sample) {
	byNode := map[string]int{}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		out.Blocks++
		out.Borrowed += b.Borrowed
		if b.InUse == 0 {
			out.EmptyBlocks++
		}
		if b.Owner != "" {
			byNode[b.Owner]++
			out.BlocksMax = max(out.BlocksMax, byNode[b.Owner])
		}
	}
	for i := range s.Affinities {
		if n, ok := s.at[s.Affinities[i].Node]; !ok || !s.nodes[n].registered {
			out.Stale++
		}
	}
}

// announced counts the routes that nodes announce to their peers: see Sample.Routes.
func (s *snapshot) announced(n *model.Network, out *Sample) {
	exported := func(p netip.Prefix) bool {
		in := n.Blocks.PoolOf(p.Addr())
		return in != nil && !in.NoExport
	}
	own := make([][]netip.Prefix, len(s.nodes))
	for i := range s.Affinities {
		a := &s.Affinities[i]
		if at, ok := s.at[a.Node]; ok && s.nodes[at].up && a.State == model.Confirmed {
			own[at] = append(own[at], a.Block)
			if exported(a.Block) {
				out.route(a.Block.Addr())
			}
		}
	}
	for _, h := range s.live {
		if !slices.ContainsFunc(own[h.node], func(b netip.Prefix) bool { return b.Contains(h.addr) }) &&
			exported(netip.PrefixFrom(h.addr, h.addr.BitLen())) {
			out.route(h.addr)
		}
	}
}

// route counts one that is announced.
func (s *Sample) route(to netip.Addr) {
	s.Routes++
	s.Six.Routes += model.Family(to)
}

// Addresses is how many there are in a prefix, 1<<40 at most: IPv6 has more than an int.
func Addresses(p netip.Prefix) int {
	return 1 << min(p.Addr().BitLen()-p.Bits(), 40)
}
