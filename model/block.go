package model

import (
	"net/netip"
	"slices"
)

// BlockPolicy is the policy of a network whose nodes claim blocks from pools and hand out
// addresses of these blocks, as with Calico. Pools and settings are stored objects there
// and may change while the cluster runs.
type BlockPolicy struct {
	Pools []IPPool // sorted by prefix
	// Strict is StrictAffinity: a node without room in its own blocks does not
	// borrow. AutoAllocate is AutoAllocateBlocks: it may claim further ones.
	Strict, AutoAllocate bool
	// MaxBlocks a node may claim, 0: MaxBlocksDefault.
	MaxBlocks int
	// Reserved are never handed out automatically (IPReservation).
	Reserved []netip.Prefix
	// V4 and V6: every pod gets an address of this family.
	V4, V6 bool
	// PodRoutes: a node keeps its route to a pod's address while the pod is stored and has
	// not finished. Otherwise it keeps the route until the pod's DEL. It follows from the
	// datastore of a run and is not stored.
	PodRoutes bool `json:"-"`
}

// IPPool is one pool that blocks are carved from.
type IPPool struct {
	Name      string
	Prefix    netip.Prefix
	BlockBits int  // prefix length of its blocks
	Disabled  bool // no new address, old ones stay
	// Workloads and Tunnels are its allowed uses. Manual pools serve fixed
	// addresses and explicit requests only. Selective ones serve some namespaces
	// only.
	Workloads, Tunnels, Manual, Selective bool
	// Nodes the pool's node selector takes, sorted, of those that exist.
	Nodes []string
	// NoExport is disableBGPExport. IPIP and VXLAN are Never, Always or
	// CrossSubnet; "" is Never.
	NoExport    bool
	IPIP, VXLAN string
	// LoadBalancers is another allowed use: addresses of Services.
	LoadBalancers bool
}

// BlockUse is a block that exists, counted.
type BlockUse struct {
	Prefix   netip.Prefix
	Owner    string // the node that it names; "": none
	Affine   bool   // the owner has an affinity to it
	InUse    int    // addresses
	Free     int    // addresses neither in use nor reserved
	Borrowed int    // addresses in use by another node than the owner
	Pool     string // the pool that it lies in, even a disabled one; "": none
}

// Affinity is a node's claim to a block.
type Affinity struct {
	Block netip.Prefix
	Node  string // "virtual:NAME" if it is not a node
	State string // Pending, Confirmed or PendingDeletion
}

// The states of an affinity, in upstream's words.
const (
	Pending         = "pending"
	Confirmed       = "confirmed"
	PendingDeletion = "pendingDeletion"
)

// Handle counts the addresses of one owner by block.
type Handle struct {
	ID     string
	Counts []HandleCount // sorted by block
}

// HandleCount is the number of addresses in a block according to a handle.
type HandleCount struct {
	Block netip.Prefix
	Count int
}

// DualStack reports whether there are pools of both address families.
func (b *BlockPolicy) DualStack() bool {
	of := func(v4 bool) bool {
		return slices.ContainsFunc(b.Pools, func(p IPPool) bool { return p.Prefix.Addr().Is4() == v4 })
	}
	return of(true) && of(false)
}

// PoolOf is the pool of the policy that an address lies in, or nil.
func (b *BlockPolicy) PoolOf(a netip.Addr) *IPPool {
	for i := range b.Pools {
		if b.Pools[i].Prefix.Contains(a) {
			return &b.Pools[i]
		}
	}
	return nil
}

// Only is the network for a pod on a node that requests certain pools, by name or prefix. The
// requested pools serve the pod whatever they select, if they allow pods, and no other pool of
// their family does. If one of them does not exist or is disabled, no pool serves it. Without
// requested pools, or without blocks, the network is unchanged.
//
// Source: libcalico-go/lib/ipam/ipam.go, determinePools, and
// cni-plugin/internal/pkg/utils/utils.go, ResolvePools (v3.31).
func (n *Network) Only(pools []string, node string) Network {
	out := *n
	if n.Blocks == nil || len(pools) == 0 {
		return out
	}
	policy := *n.Blocks
	policy.Pools = slices.Clone(policy.Pools)
	out.Blocks = &policy
	named := func(p *IPPool) []string {
		return slices.DeleteFunc(slices.Clone(pools), func(n string) bool { return n != p.Name && n != p.Prefix.String() })
	}
	families, found := map[bool]bool{}, map[string]bool{}
	for i := range policy.Pools {
		p := &policy.Pools[i]
		if names := named(p); len(names) > 0 && !p.Disabled {
			families[p.Prefix.Addr().Is4()] = true
			for _, n := range names {
				found[n] = true
			}
		}
	}
	missing := slices.ContainsFunc(pools, func(n string) bool { return !found[n] })
	for i := range policy.Pools {
		p := &policy.Pools[i]
		switch {
		case missing:
			p.Disabled = true
		case len(named(p)) > 0:
			p.Manual, p.Selective, p.Nodes = false, false, []string{node}
		default:
			p.Disabled = p.Disabled || families[p.Prefix.Addr().Is4()]
		}
	}
	return out
}

// Serves reports whether any pod that starts on a node may get an address of the pool.
func (p *IPPool) Serves(node string) bool {
	return !p.Disabled && !p.Manual && !p.Selective && p.Workloads && slices.Contains(p.Nodes, node)
}
