package record

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	_ "unsafe" // for linkname

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"

	"ipamsim/model"
)

// policy is the present policy in the datastore.
type policy struct {
	pools    map[string]*apiv3.IPPool // by key of the store, as is all of this
	reserved map[string][]netip.Prefix
	nodes    map[string]*libapiv3.Node
	config   map[string]*bmodel.IPAMConfig // there is one or none
	ever     map[netip.Prefix]bool         // every pool there has been
	changed  bool
}

func newPolicy() policy {
	return policy{
		pools: map[string]*apiv3.IPPool{}, reserved: map[string][]netip.Prefix{}, nodes: map[string]*libapiv3.Node{},
		config: map[string]*bmodel.IPAMConfig{}, ever: map[netip.Prefix]bool{}, changed: true,
	}
}

func (p *policy) setConfig(key string, c *bmodel.IPAMConfig) { p.config[key], p.changed = c, true }

// setPool applies upstream's defaults.
func (p *policy) setPool(key string, pool *apiv3.IPPool) error {
	if err := defaultPool(pool); err != nil {
		return err
	}
	prefix, err := poolPrefix(pool)
	if err != nil {
		return err
	}
	p.pools[key], p.ever[prefix], p.changed = pool, true, true
	return nil
}

// setReservation leaves out values that are not addresses, as upstream does.
//
// Source: libcalico-go/lib/ipam, getReservedIPs (v3.31).
func (p *policy) setReservation(key string, r *apiv3.IPReservation) {
	var out []netip.Prefix
	for _, s := range r.Spec.ReservedCIDRs {
		if _, n, err := cnet.ParseCIDROrIP(s); err == nil {
			if x, ok := Prefix(*n); ok {
				out = append(out, x)
			}
		}
	}
	p.reserved[key], p.changed = out, true
}

// SetNode ignores what pools do not select by: a kubelet writes its node's status
// again and again.
func (p *policy) SetNode(key string, n *libapiv3.Node) {
	old := p.nodes[key]
	p.changed = p.changed || old == nil || !maps.Equal(old.Labels, n.Labels)
	p.nodes[key] = n
}

func (p *policy) drop(key string) {
	before := len(p.pools) + len(p.reserved) + len(p.nodes) + len(p.config)
	delete(p.pools, key)
	delete(p.reserved, key)
	delete(p.nodes, key)
	delete(p.config, key)
	p.changed = p.changed || len(p.pools)+len(p.reserved)+len(p.nodes)+len(p.config) != before
}

// Network is the policy as a network. The node limit that upstream applies where
// none is configured counts as configured.
//
// Source: libcalico-go/lib/ipam, GetIPAMConfig and autoAssign (v3.31).
func (p *policy) Network(v4, v6 bool) model.Network {
	p.changed = false
	b := &model.BlockPolicy{AutoAllocate: true, MaxBlocks: model.MaxBlocksDefault, V4: v4, V6: v6}
	for _, c := range p.config {
		b.Strict, b.AutoAllocate = c.StrictAffinity, c.AutoAllocateBlocks
		b.MaxBlocks = cmp.Or(c.MaxBlocksPerHost, model.MaxBlocksDefault)
	}
	nodes := slices.SortedFunc(maps.Values(p.nodes), func(a, b *libapiv3.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, key := range slices.Sorted(maps.Keys(p.pools)) {
		b.Pools = append(b.Pools, poolPolicy(p.pools[key], nodes))
	}
	slices.SortStableFunc(b.Pools, func(x, y model.IPPool) int { return x.Prefix.Compare(y.Prefix) })
	for _, r := range p.reserved {
		b.Reserved = append(b.Reserved, r...)
	}
	slices.SortFunc(b.Reserved, netip.Prefix.Compare)
	b.Reserved = slices.Compact(b.Reserved)
	n := model.Network{Key: NetworkKey, Blocks: b}
	for _, x := range slices.SortedFunc(maps.Keys(p.ever), netip.Prefix.Compare) {
		n.Ranges = append(n.Ranges, model.Range{Prefix: x, Start: x.Addr(), End: model.LastAddr(x)})
	}
	return n
}

// poolPolicy is the policy of a pool, with defaults applied. A pool whose selector cannot be parsed
// selects no node: upstream fails every request while it exists.
//
// Source: libcalico-go/lib/clientv3, filterIPPool; libcalico-go/lib/ipam,
// determinePools (v3.31).
func poolPolicy(p *apiv3.IPPool, nodes []*libapiv3.Node) model.IPPool {
	x, _ := poolPrefix(p) // checked by setPool
	out := model.IPPool{
		Name: p.Name, Prefix: x, BlockBits: p.Spec.BlockSize,
		Disabled:  p.Spec.Disabled || p.DeletionTimestamp != nil,
		Workloads: slices.Contains(p.Spec.AllowedUses, apiv3.IPPoolAllowedUseWorkload),
		Tunnels:   slices.Contains(p.Spec.AllowedUses, apiv3.IPPoolAllowedUseTunnel),
		Manual:    p.Spec.AssignmentMode != nil && *p.Spec.AssignmentMode != apiv3.Automatic,
		Selective: selective(p),
		NoExport:  p.Spec.DisableBGPExport, IPIP: string(p.Spec.IPIPMode), VXLAN: string(p.Spec.VXLANMode),
		LoadBalancers: slices.Contains(p.Spec.AllowedUses, apiv3.IPPoolAllowedUseLoadBalancer),
	}
	for _, n := range nodes {
		if ok, err := ipam.SelectsNode(*p, *n); ok && err == nil {
			out.Nodes = append(out.Nodes, n.Name)
		}
	}
	return out
}

func poolPrefix(p *apiv3.IPPool) (netip.Prefix, error) {
	_, n, err := cnet.ParseCIDR(p.Spec.CIDR)
	if err != nil {
		return netip.Prefix{}, err
	}
	x, ok := Prefix(*n)
	if !ok {
		return x, fmt.Errorf("%s is no network", n)
	}
	return x, nil
}

// defaultPool is the function that upstream's client applies to a pool that it has read.
//
//go:linkname defaultPool github.com/projectcalico/calico/libcalico-go/lib/clientv3.convertIpPoolFromStorage
func defaultPool(*apiv3.IPPool) error
