package calico

import (
	"cmp"
	"errors"
	"maps"
	"net/netip"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	reference "ipamsim/model/reference/calico"
)

// networkKey is the key of the network that Calico serves, and the beginning of
// its handles.
//
// Source: sim/ipam/calico; libcalico-go/lib/ipam, cni-plugin's default name.
const networkKey = "k8s-pod-network"

// allocator is Calico's reference as a player's manager.
type allocator struct {
	p         *capacity.Player
	c         *Config
	a         *reference.Allocator
	collector *reference.Collector
	changed   []model.PodRef
	v4, v6    bool
	positions int                       // of blocks
	even      bool                      // every pool is for every pod on every node, and nothing was there before
	handles   map[string]string         // of sandboxes that were there at the beginning, by container
	tunnels   map[string][3]netip.Addr  // of nodes that were: for IPIP, VXLAN, and VXLAN over IPv6
	pools     map[string]reference.Pool // that there have been, by name
	routing   map[string]Routing        // of these
	size      int                       // addresses that its pools have, if they are all there is to hand out; else 0
}

// Open implements capacity.Manager.
func (c *Config) Open(p *capacity.Player) (*capacity.Allocator, error) {
	m, err := open(p, c)
	if err != nil {
		return nil, err
	}
	return &capacity.Allocator{
		Add: m.add, Del: m.del, Record: m.a.Snapshot,
		Joins: m.joins, Up: m.up, Deleted: func(n *capacity.Machine) error { return m.a.DeleteNode(n.Name) },
		Adopt: func(x *capacity.Pod) { m.a.SetEndpoint(m.request(x, x.Container), x.Addrs...) },
		Pass:  m.pass, Hopeless: m.hopeless, Step: m.step, // the collector asks for changed pods itself, so it needs no list of orphans
		InUse: func() int { return m.a.Totals().InUse }, Networks: m.networks, Count: m.count, Attached: attached, Devices: m.devices,
	}, nil
}

func open(p *capacity.Player, c *Config) (*allocator, error) {
	cluster := p.Cluster()
	m := &allocator{p: p, c: c, v4: c.V4 || !c.V6, v6: c.V6, pools: map[string]reference.Pool{}, routing: map[string]Routing{}}
	maps.Copy(m.routing, c.Routing)
	if cluster.Record != nil {
		var err error
		if m.a, err = reference.Restore(c.Datastore, *cluster.Record); err != nil {
			return nil, err
		}
		m.remember(cluster.Record.Claims)
	} else {
		m.a = reference.New(c.Datastore)
	}
	m.even = true
	plain := cluster.Record == nil && len(c.Reserved) == 0 && !m.v6 && len(cluster.Migration) == 0
	for _, x := range c.Pools {
		if err := m.a.StorePool(x); err != nil {
			return nil, err
		}
		m.pools[x.Name] = x
		plain = plain && !x.Disabled && x.Prefix.Addr().Is4()
		m.size += capacity.Addresses(x.Prefix)
		if bits := cmp.Or(x.BlockBits, 26); x.Prefix.Bits() <= bits {
			m.positions += 1 << min(bits-x.Prefix.Bits(), 20)
		}
		m.even = m.even && everybodys(&x)
	}
	if m.even = m.even && plain; !plain {
		m.size = 0
	}
	m.a.Config = c.Settings
	m.a.Reserve(c.Reserved...)
	grace := cmp.Or(cluster.Collect.Grace, GraceDefault)
	m.collector = reference.NewCollector(m.a, grace)
	return m, nil
}

// remember is what claims that are there at the beginning say of sandboxes and
// devices.
func (m *allocator) remember(claims []model.Claim) {
	m.handles, m.tunnels = map[string]string{}, map[string][3]netip.Addr{}
	for i := range claims {
		c := &claims[i]
		if !c.Tunnel {
			m.handles[c.Container] = c.Handle
			continue
		}
		t := m.tunnels[c.Node]
		for k, kind := range devices {
			if c.Handle == kind+c.Node {
				t[k] = c.Addr
			}
		}
		m.tunnels[c.Node] = t
	}
}

// devices are what the handles of nodes' devices begin with.
//
// Source: node/pkg/allocateip/allocateip.go, generateHandleAndAttributes.
var devices = [3]string{"ipip-tunnel-addr-", "vxlan-tunnel-addr-", "vxlan-v6-tunnel-addr-"}

func (m *allocator) joins(n *capacity.Machine) error {
	m.a.SetNode(n.Name, n.Labels)
	if t, ok := m.tunnels[n.Name]; ok {
		if err := m.a.SetTunnelAddrs(n.Name, t[0], t[1], t[2]); err != nil {
			return err
		}
		delete(m.tunnels, n.Name)
	}
	return m.up(n)
}

// up lets calico-node look after the node's tunnel addresses. If it gets none it ends
// and is started again.
func (m *allocator) up(n *capacity.Machine) error {
	if !m.c.Tunnels {
		return nil
	}
	err := m.a.EnsureTunnels(n.Name)
	if errors.Is(err, reference.ErrNotModelled) {
		return err
	}
	if err != nil {
		m.p.Lacks(n)
	}
	return nil
}

var namespaceLabels = map[string]string{"kubernetes.io/metadata.name": "default"}

func (m *allocator) request(p *capacity.Pod, container string) reference.Request {
	q := reference.Request{Node: p.Node.Name, Handle: networkKey + "." + container, Pod: p.Ref, NamespaceLabels: namespaceLabels}
	if known, ok := m.handles[container]; ok {
		q.Handle = known
	}
	if m.v4 {
		q.V4 = 1
	}
	if m.v6 {
		q.V6 = 1
	}
	return q
}

func (m *allocator) add(p *capacity.Pod) ([]netip.Addr, error) {
	q := m.request(p, p.Container)
	got, err := m.a.Add(q)
	switch {
	case err == nil:
		return got, nil
	case errors.Is(err, reference.ErrNotModelled):
		return nil, capacity.NotModelled(err)
	}
	if e := m.a.Del(q); errors.Is(e, reference.ErrNotModelled) {
		return nil, capacity.NotModelled(e)
	} else if e != nil {
		return nil, e
	}
	if errors.Is(err, reference.ErrExhausted) || errors.Is(err, reference.ErrBlockLimit) || errors.Is(err, reference.ErrNoNewBlocks) {
		return nil, capacity.ErrNoAddress
	}
	return nil, err
}

func (m *allocator) del(p *capacity.Pod, container string) error {
	return m.a.Del(m.request(p, container))
}

func (m *allocator) pass(now time.Duration, changed []model.PodRef) error {
	m.changed = changed
	before := m.collector.Choices
	if err := m.collector.Pass(now, m); errors.Is(err, reference.ErrNotModelled) {
		return err
	}
	if m.collector.Choices > before {
		m.p.Chance()
	}
	return nil // its own error is left for the next pass
}

// Pod is what the API server has of one.
func (m *allocator) Pod(ref model.PodRef) (reference.Pod, bool) {
	x := m.p.Pod(ref)
	if x == nil {
		return reference.Pod{}, false
	}
	return reference.Pod{Node: x.Node.Name, Addrs: x.Reported}, true
}

// Changed returns the pods that changed since the last pass.
func (m *allocator) Changed() ([]model.PodRef, bool) { return m.changed, false }

// everybodys reports whether a pool serves every pod on every node.
func everybodys(p *reference.Pool) bool {
	all := func(selector string) bool { return selector == "" || selector == "all()" }
	return !p.Manual && len(p.Uses) == 0 && all(p.NodeSelector) && all(p.NamespaceSelector)
}

// hopeless reports whether an ADD on the node must fail: no address is free at all; or none in the
// node's own blocks, and the node may neither claim another block, or there is none, nor borrow.
func (m *allocator) hopeless(n *capacity.Machine) bool {
	if m.size == 0 {
		return false
	}
	t := m.a.Totals()
	if t.InUse >= m.size {
		return true
	}
	own := m.a.Node(n.Name)
	if !m.even || own.Free > 0 || own.Affinities > own.Owned {
		return false
	}
	c := &m.a.Config
	return !c.AutoAllocate || own.Affinities >= cmp.Or(c.MaxBlocks, model.MaxBlocksDefault) || c.Strict && t.Blocks >= m.positions
}

// networks are the policy, including its routes.
func (m *allocator) networks() []model.Network {
	n := m.a.Network(m.v4, m.v6)
	n.Key = networkKey
	for i := range n.Blocks.Pools {
		x := &n.Blocks.Pools[i]
		r, p := m.routing[x.Name], m.pools[x.Name]
		x.NoExport, x.IPIP, x.VXLAN = r.NoExport, r.IPIP, r.VXLAN
		if p.IPIP && x.IPIP == "" {
			x.IPIP = "Always"
		}
		if p.VXLAN && x.VXLAN == "" {
			x.VXLAN = "Always"
		}
	}
	return []model.Network{n}
}

// count counts blocks and addresses.
func (m *allocator) count() (s capacity.Census) {
	for b := range m.a.Blocks() {
		s.Blocks = append(s.Blocks, b)
		s.InUse += b.InUse
	}
	for node, block := range m.a.Affinities() {
		s.Affinities = append(s.Affinities, model.Affinity{Block: block, Node: node, State: model.Confirmed})
	}
	s.Leaked = s.InUse
	for x := range m.p.Pods() {
		s.Leaked -= len(x.Addrs) - x.Unclaimed
	}
	for _, n := range m.p.Machines() {
		if !n.Registered {
			continue
		}
		for _, a := range m.tunnelAddrs(n) {
			if a.IsValid() {
				s.Leaked--
				s.Devices = append(s.Devices, capacity.Device{Node: n.Number, Addr: a})
			}
		}
	}
	return s
}

// tunnelAddrs are a node's own, in the order of devices; not valid where it has none.
func (m *allocator) tunnelAddrs(n *capacity.Machine) (out [3]netip.Addr) {
	if m.c.Tunnels {
		out[0], out[1], out[2] = m.a.TunnelAddrs(n.Name)
	}
	return out
}

func attached(p *capacity.Pod) []model.Attachment {
	return []model.Attachment{{Network: networkKey, Interface: "eth0", Addrs: p.Addrs}}
}

// devices are the nodes' own, which answer to an address as a pod would.
func (m *allocator) devices() (out []model.Sandbox) {
	for _, n := range m.p.Machines() {
		if !n.Up {
			continue
		}
		for i, a := range m.tunnelAddrs(n) {
			if a.IsValid() {
				out = append(out, model.Sandbox{
					ID: devices[i] + n.Name, Pod: model.PodRef{Name: n.Name}, Node: n.Name,
					Attachments: []model.Attachment{{Network: networkKey, Interface: "tunnel", Addrs: []netip.Addr{a}}},
				})
			}
		}
	}
	return out
}
