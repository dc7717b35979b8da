package capacity

import (
	"cmp"
	"errors"
	"maps"
	"net/netip"
	"time"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/model/reference/calico"
)

// calicoNetwork is the key of the network that Calico serves, and the beginning of
// its handles.
//
// Source: sim/ipam/calico; libcalico-go/lib/ipam, cni-plugin's default name.
const calicoNetwork = "k8s-pod-network"

// byCalico is Calico's reference as a player's manager.
type byCalico struct {
	p         *Player
	a         *calico.Allocator
	collector *calico.Collector
	changed   []model.PodRef
	v4, v6    bool
	positions int                      // of blocks
	even      bool                     // every pool is for every pod on every node, and nothing was there before
	handles   map[string]string        // of sandboxes that were there at the beginning, by container
	tunnels   map[string][3]netip.Addr // of nodes that were: for IPIP, VXLAN, and VXLAN over IPv6
	pools     map[string]calico.Pool   // that there have been, by name
	routing   map[string]Routing       // of these
	size      int                      // addresses that its pools have, if they are all there is to hand out; else 0
}

func newCalico(p *Player) (*byCalico, error) {
	c := p.c.Calico
	m := &byCalico{p: p, v4: c.V4 || !c.V6, v6: c.V6, pools: map[string]calico.Pool{}, routing: map[string]Routing{}}
	maps.Copy(m.routing, c.Routing)
	if p.c.Record != nil {
		var err error
		if m.a, err = calico.Restore(c.Datastore, *p.c.Record); err != nil {
			return nil, err
		}
		m.remember(p.c.Record.Claims)
	} else {
		m.a = calico.New(c.Datastore)
	}
	m.even = true
	plain := p.c.Record == nil && len(c.Reserved) == 0 && !m.v6 && len(p.c.Migration) == 0
	for _, x := range c.Pools {
		if err := m.a.StorePool(x); err != nil {
			return nil, err
		}
		m.pools[x.Name] = x
		plain = plain && !x.Disabled && x.Prefix.Addr().Is4()
		m.size += addresses(x.Prefix)
		if bits := cmp.Or(x.BlockBits, 26); x.Prefix.Bits() <= bits {
			m.positions += 1 << min(bits-x.Prefix.Bits(), 20)
		}
		m.even = m.even && everybodys(&x)
	}
	if m.even = m.even && plain; !plain {
		m.size = 0
	}
	m.a.Config = c.Config
	m.a.Reserve(c.Reserved...)
	grace := p.c.Collect.Grace
	if grace == 0 {
		grace = GraceDefault
	}
	m.collector = calico.NewCollector(m.a, grace)
	return m, nil
}

// remember is what claims that are there at the beginning say of sandboxes and
// devices.
func (m *byCalico) remember(claims []model.Claim) {
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

// GraceDefault is how long Calico's collector looks at a leak before it releases
// it.
//
// Source: kube-controllers/pkg/config, leakGracePeriod.
const GraceDefault = 15 * time.Minute

func (m *byCalico) joins(n *station) error {
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
func (m *byCalico) up(n *station) error {
	if !m.p.c.Calico.Tunnels {
		return nil
	}
	err := m.a.EnsureTunnels(n.Name)
	if errors.Is(err, calico.ErrNotModelled) {
		return err
	}
	if err != nil {
		m.p.lacks(n)
	}
	return nil
}

func (m *byCalico) deleted(n *station) error { return m.a.DeleteNode(n.Name) }

var namespaceLabels = map[string]string{"kubernetes.io/metadata.name": "default"}

func (m *byCalico) request(p *pod, container string) calico.Request {
	q := calico.Request{Node: p.node.Name, Handle: calicoNetwork + "." + container, Pod: p.ref, NamespaceLabels: namespaceLabels}
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

func (m *byCalico) adopt(p *pod) { m.a.SetEndpoint(m.request(p, p.container), p.addrs...) }

func (m *byCalico) orphaned(*pod) {} // the collector asks for pods that changed

func (m *byCalico) add(p *pod) ([]netip.Addr, error) {
	q := m.request(p, p.container)
	got, err := m.a.Add(q)
	if err != nil && !errors.Is(err, calico.ErrNotModelled) {
		if e := m.a.Del(q); e != nil {
			return nil, e
		}
	}
	return got, err
}

func (m *byCalico) del(p *pod, container string) error { return m.a.Del(m.request(p, container)) }

func (m *byCalico) pass(now time.Duration, changed []model.PodRef) error {
	m.changed = changed
	before := m.collector.Choices
	if err := m.collector.Pass(now, m); errors.Is(err, calico.ErrNotModelled) {
		return err
	}
	if m.collector.Choices > before && m.p.course.Chance == 0 {
		m.p.course.Chance = now
	}
	return nil // an error of its own is left for the next pass
}

// Pod is what the API server has of one.
func (m *byCalico) Pod(ref model.PodRef) (calico.Pod, bool) {
	x := m.p.pod(ref)
	if x == nil {
		return calico.Pod{}, false
	}
	return calico.Pod{Node: x.node.Name, Addrs: x.reported}, true
}

// Changed are the pods of which something is another since the last pass.
func (m *byCalico) Changed() ([]model.PodRef, bool) { return m.changed, false }

func (m *byCalico) wanting(err error) bool {
	return errors.Is(err, calico.ErrExhausted) || errors.Is(err, calico.ErrBlockLimit) || errors.Is(err, calico.ErrNoNewBlocks)
}

func (m *byCalico) inUse() int { return m.a.Totals().InUse }

// everybodys reports whether a pool is for every pod on every node.
func everybodys(p *calico.Pool) bool {
	all := func(selector string) bool { return selector == "" || selector == "all()" }
	return !p.Manual && len(p.Uses) == 0 && all(p.NodeSelector) && all(p.NamespaceSelector)
}

// hopeless: nothing is free at all; or nothing in the node's own blocks, and it may
// claim no other, or there is none to claim, nor may it borrow.
func (m *byCalico) hopeless(n *station) bool {
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

func (m *byCalico) record() model.Snapshot { return m.a.Snapshot() }

// networks are the policy, with what it says of routes.
func (m *byCalico) networks() []model.Network {
	n := m.a.Network(m.v4, m.v6)
	n.Key = calicoNetwork
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

// look tells what there is of blocks and addresses.
func (m *byCalico) look(s *scene) {
	for b := range m.a.Blocks() {
		s.blocks = append(s.blocks, b)
		s.inUse += b.InUse
	}
	for node, block := range m.a.Affinities() {
		s.affinities = append(s.affinities, model.Affinity{Block: block, Node: node, State: model.Confirmed})
	}
	s.leaked = s.inUse
	for _, x := range m.p.pods {
		if x != nil {
			s.leaked -= len(x.addrs) - x.unclaimed
		}
	}
	for i, n := range m.p.stations {
		if !m.p.c.Calico.Tunnels || !n.registered {
			continue
		}
		ipip, vxlan, vxlan6 := m.a.TunnelAddrs(n.Name)
		for _, a := range []netip.Addr{ipip, vxlan, vxlan6} {
			if a.IsValid() {
				s.leaked--
				s.device(i, a)
			}
		}
	}
}

func (m *byCalico) attached(p *pod) []model.Attachment {
	return []model.Attachment{{Network: calicoNetwork, Interface: "eth0", Addrs: p.addrs}}
}

// devices are the nodes' own, which answer to an address as a pod would.
func (m *byCalico) devices(v *metric.View) {
	if !m.p.c.Calico.Tunnels {
		return
	}
	for _, n := range m.p.stations {
		if !n.up {
			continue
		}
		ipip, vxlan, vxlan6 := m.a.TunnelAddrs(n.Name)
		for i, a := range []netip.Addr{ipip, vxlan, vxlan6} {
			if a.IsValid() {
				v.Truth.Sandboxes = append(v.Truth.Sandboxes, model.Sandbox{
					ID: devices[i] + n.Name, Pod: model.PodRef{Name: n.Name}, Node: n.Name,
					Attachments: []model.Attachment{{Network: calicoNetwork, Interface: "tunnel", Addrs: []netip.Addr{a}}},
				})
			}
		}
	}
}
