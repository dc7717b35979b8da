package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/model/reference/whereabouts"
)

// byWhereabouts is Whereabouts' reference as a player's manager. Every pod is
// attached to all networks in turn, as net1, net2 and so on.
type byWhereabouts struct {
	p    *Player
	r    *whereabouts.Record
	all  []*whereabouts.Network
	rule whereabouts.Rule
	// interfaces that were there at the beginning, by container.
	interfaces map[string][]string

	orphans  []*pod // since the last pass
	passed   bool   // there has been one
	plain    bool   // see passPlain
	poolName string // once it is known
}

func newWhereabouts(p *Player) (*byWhereabouts, error) {
	c := p.c.Whereabouts
	m := &byWhereabouts{p: p, r: whereabouts.New(), rule: c.Rule}
	if m.rule == "" {
		m.rule = whereabouts.AddressInStatus
	}
	if p.c.Record != nil {
		var err error
		if m.r, err = whereabouts.Restore(*p.c.Record); err != nil {
			return nil, err
		}
		m.remember(p.c.Record)
	}
	for _, n := range c.Networks {
		x, err := whereabouts.NewNetwork(n)
		if err != nil {
			return nil, err
		}
		m.all = append(m.all, x)
	}
	m.plain = plain(c.Networks)
	return m, m.slice()
}

// remember is what the claims that are there at the beginning say of interfaces: a
// container's are those of the networks in turn, shorter names first.
func (m *byWhereabouts) remember(r *model.Snapshot) {
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
func (m *byWhereabouts) slice() error {
	nodes := m.p.c.Nodes
	for i, n := range m.p.c.Whereabouts.Networks {
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

// keep gives nodes the slices of which they have pools already, and others the
// rest.
func (m *byWhereabouts) keep(s *whereabouts.Slices) {
	for i := range s.All {
		s.All[i].Node = ""
	}
	has := map[string]bool{}
	if m.p.c.Record != nil {
		for _, p := range m.p.c.Record.Pools {
			for i := range s.All {
				if p.Node != "" && s.All[i].Prefix == p.Range.Masked() {
					s.All[i].Node, has[p.Node] = p.Node, true
				}
			}
		}
	}
	i := 0
	for _, n := range m.p.c.Nodes {
		for i < len(s.All) && s.All[i].Node != "" {
			i++
		}
		if !has[n.Name] && i < len(s.All) {
			s.All[i].Node = n.Name
		}
	}
}

// joins and deleted let the node-slice controller look.
func (m *byWhereabouts) joins(n *station) error {
	if int(n.number) < len(m.p.c.Nodes) {
		return nil // slice has seen to it
	}
	return m.cut()
}

func (m *byWhereabouts) deleted(*station) error { return m.cut() }

func (m *byWhereabouts) up(*station) error { return nil }

func (m *byWhereabouts) cut() error {
	var nodes []string
	for i, n := range m.p.c.Whereabouts.Networks {
		if n.Slice == 0 {
			continue
		}
		if nodes == nil {
			for _, x := range m.p.stations {
				if x.registered {
					nodes = append(nodes, x.Name)
				}
			}
		}
		if err := m.r.Cut(m.all[i], m.all, nodes); errors.Is(err, whereabouts.ErrNotModelled) {
			return err
		}
	}
	return nil
}

func (m *byWhereabouts) call(p *pod, container string, network int) whereabouts.Call {
	name := "net" + strconv.Itoa(network+1)
	if known := m.interfaces[container]; network < len(known) {
		name = known[network]
	}
	return whereabouts.Call{Node: p.node.Name, Pod: p.ref, Container: container, Interface: name}
}

func (m *byWhereabouts) adopt(*pod) {}

func (m *byWhereabouts) orphaned(p *pod) { m.orphans = append(m.orphans, p) }

// add is Multus' ADD: the networks in order, the first failure ends it, and what
// there was is released.
func (m *byWhereabouts) add(p *pod) ([]netip.Addr, error) {
	var out []netip.Addr
	for i, n := range m.all {
		got, err := m.r.Add(n, m.call(p, p.container, i))
		if errors.Is(err, whereabouts.ErrNotModelled) {
			return nil, err
		}
		if err != nil {
			if e := m.release(p, p.container, i); e != nil {
				return nil, e
			}
			return nil, err
		}
		for _, x := range got {
			out = append(out, x.Addr())
		}
	}
	return out, nil
}

func (m *byWhereabouts) del(p *pod, container string) error {
	return m.release(p, container, len(m.all)-1)
}

// release is Multus' DEL, from a network back to the first.
func (m *byWhereabouts) release(p *pod, container string, from int) error {
	for i := from; i >= 0; i-- {
		if err := m.r.Del(m.all[i], m.call(p, container, i)); errors.Is(err, whereabouts.ErrNotModelled) {
			return err
		}
	}
	return nil
}

func (m *byWhereabouts) wanting(err error) bool {
	return errors.Is(err, whereabouts.ErrExhausted) || errors.Is(err, whereabouts.ErrCrash)
}

func (m *byWhereabouts) hopeless(*station) bool { return false }

func (m *byWhereabouts) inUse() int { return m.r.Claimed() }

func (m *byWhereabouts) record() model.Snapshot { return m.r.Snapshot() }

func (m *byWhereabouts) networks() []model.Network { return m.p.c.Whereabouts.Networks }

// look tells what there is of addresses.
func (m *byWhereabouts) look(s *scene) {
	r := m.r.Snapshot()
	s.pools, s.claims, s.inUse = r.Pools, r.Claims, len(r.Claims)
	by := map[string]*pod{}
	for _, x := range m.p.pods {
		if x != nil && x.container != "" {
			by[x.container] = x
		}
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if x := by[c.Container]; x == nil || !slices.Contains(x.addrs, c.Addr) {
			s.leaked++
		}
	}
}

func (m *byWhereabouts) attached(p *pod) []model.Attachment {
	var out []model.Attachment
	rest := p.addrs
	for i, n := range m.p.c.Whereabouts.Networks {
		k := min(max(len(n.Ranges), 1), len(rest))
		out = append(out, model.Attachment{Network: n.Key, Interface: fmt.Sprint("net", i+1), Addrs: rest[:k]})
		rest = rest[k:]
	}
	return out
}

func (m *byWhereabouts) devices(*metric.View) {}
