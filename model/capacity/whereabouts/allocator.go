package whereabouts

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strconv"

	"ipamsim/model"
	"ipamsim/model/capacity"
	reference "ipamsim/model/reference/whereabouts"
)

// allocator is Whereabouts' reference as a player's manager. Every pod is
// attached to all networks in turn, as net1, net2 and so on.
type allocator struct {
	p        *capacity.Player
	networks []model.Network
	r        *reference.Record
	all      []*reference.Network
	rule     reference.Rule
	// interfaces that were there at the beginning, by container.
	interfaces map[string][]string

	orphans  []*capacity.Pod // since the last pass
	passed   bool            // there has been one
	plain    bool            // see passPlain
	poolName string          // once it is known
}

// Open implements capacity.Manager.
func (c *Config) Open(p *capacity.Player) (*capacity.Allocator, error) {
	m, err := open(p, cmp.Or(c.Rule, reference.AddressInStatus))
	if err != nil {
		return nil, err
	}
	return &capacity.Allocator{
		Add: m.add, Del: m.del, Record: func() model.Snapshot { return m.r.Snapshot() },
		Joins: m.joins, Deleted: func(*capacity.Machine) error { return m.cut() },
		Orphaned: func(x *capacity.Pod) { m.orphans = append(m.orphans, x) },
		Pass:     m.pass, InUse: func() int { return m.r.Claimed() }, Count: m.count,
	}, nil
}

func open(p *capacity.Player, rule reference.Rule) (*allocator, error) {
	m := &allocator{p: p, networks: p.Cluster().Networks, r: reference.New(), rule: rule}
	if p.Cluster().Record != nil {
		var err error
		if m.r, err = reference.Restore(*p.Cluster().Record); err != nil {
			return nil, err
		}
		m.remember(p.Cluster().Record)
	}
	for _, n := range m.networks {
		x, err := reference.NewNetwork(n)
		if err != nil {
			return nil, err
		}
		m.all = append(m.all, x)
	}
	m.plain = plain(m.networks)
	return m, m.slice()
}

// remember derives the interfaces from the initial claims: the claims of a container belong to its
// networks in order, shorter names first.
func (m *allocator) remember(r *model.Snapshot) {
	m.interfaces = map[string][]string{}
	for i := range r.Claims {
		c := &r.Claims[i]
		if all := m.interfaces[c.Container]; !slices.Contains(all, c.Interface) {
			all = append(all, c.Interface)
			slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
			m.interfaces[c.Container] = all
		}
	}
}

// slice cuts the node slices of a cluster that begins. Upstream gives them to the
// nodes in the order of a Go map, and here they get them in their own order: all
// are of one size.
func (m *allocator) slice() error {
	nodes := m.p.Cluster().Nodes
	for i, n := range m.networks {
		if n.Slice == 0 || len(nodes) == 0 {
			continue
		}
		if err := m.r.Cut(m.all[i], m.all, []string{nodes[0].Name}); err != nil {
			return err
		}
		s := *m.r.Slices(m.all[i])
		s.All = slices.Clone(s.All)
		m.keep(&s)
		m.r.StoreSlices(s)
	}
	return nil
}

// keep gives nodes the slices in which they have pools already, and the other nodes the
// remaining slices.
func (m *allocator) keep(s *reference.Slices) {
	for i := range s.All {
		s.All[i].Node = ""
	}
	has := map[string]bool{}
	if m.p.Cluster().Record != nil {
		for _, p := range m.p.Cluster().Record.Pools {
			for i := range s.All {
				if p.Node != "" && s.All[i].Prefix == p.Range.Masked() {
					s.All[i].Node, has[p.Node] = p.Node, true
				}
			}
		}
	}
	i := 0
	for _, n := range m.p.Cluster().Nodes {
		for i < len(s.All) && s.All[i].Node != "" {
			i++
		}
		if !has[n.Name] && i < len(s.All) {
			s.All[i].Node = n.Name
		}
	}
}

// joins and Deleted let the node-slice controller look.
func (m *allocator) joins(n *capacity.Machine) error {
	if int(n.Number) < len(m.p.Cluster().Nodes) {
		return nil // slice has seen to it
	}
	return m.cut()
}

func (m *allocator) cut() error {
	var nodes []string
	for i, n := range m.networks {
		if n.Slice == 0 {
			continue
		}
		if nodes == nil {
			for _, x := range m.p.Machines() {
				if x.Registered {
					nodes = append(nodes, x.Name)
				}
			}
		}
		if err := m.r.Cut(m.all[i], m.all, nodes); errors.Is(err, reference.ErrNotModelled) {
			return err
		}
	}
	return nil
}

func (m *allocator) call(p *capacity.Pod, container string, network int) reference.Call {
	name := "net" + strconv.Itoa(network+1)
	if known := m.interfaces[container]; network < len(known) {
		name = known[network]
	}
	return reference.Call{Node: p.Node.Name, Pod: p.Ref, Container: container, Interface: name}
}

// add is Multus' ADD: the networks in order, the first failure ends it, and what
// there was is released.
func (m *allocator) add(p *capacity.Pod) ([]netip.Addr, error) {
	var out []netip.Addr
	for i, n := range m.all {
		got, err := m.r.Add(n, m.call(p, p.Container, i))
		if errors.Is(err, reference.ErrNotModelled) {
			return nil, capacity.NotModelled(err)
		}
		if err != nil {
			if e := m.release(p, p.Container, i); e != nil {
				return nil, capacity.NotModelled(e)
			}
			if errors.Is(err, reference.ErrExhausted) || errors.Is(err, reference.ErrCrash) {
				return nil, capacity.ErrNoAddress
			}
			return nil, err
		}
		for _, x := range got {
			out = append(out, x.Addr())
		}
	}
	return out, nil
}

func (m *allocator) del(p *capacity.Pod, container string) error {
	return m.release(p, container, len(m.all)-1)
}

// release is Multus' DEL, from a network back to the first.
func (m *allocator) release(p *capacity.Pod, container string, from int) error {
	for i := from; i >= 0; i-- {
		if err := m.r.Del(m.all[i], m.call(p, container, i)); errors.Is(err, reference.ErrNotModelled) {
			return err
		}
	}
	return nil
}

// count counts pools and addresses.
func (m *allocator) count() capacity.Census {
	r := m.r.Snapshot()
	s := capacity.Census{Pools: r.Pools, Claims: r.Claims, InUse: len(r.Claims)}
	by := map[string]*capacity.Pod{}
	for x := range m.p.Pods() {
		if x.Container != "" {
			by[x.Container] = x
		}
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if x := by[c.Container]; x == nil || !slices.Contains(x.Addrs, c.Addr) {
			s.Leaked++
		}
	}
	return s
}
