package route

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// observeAffinities updates the blocks that each node's BIRD has affinities for. confd ignores
// pending ones.
//
// Source: confd/pkg/backends/calico/client.go, updateCache.
func (p *Plane) observeAffinities(list []model.Affinity) {
	if !p.reread && slices.Equal(list, p.facts.Affinities) {
		return
	}
	p.facts.Affinities, p.reread = slices.Clone(list), false
	now := map[string][]model.Affinity{}
	for _, a := range list {
		if i, ok := p.t.Find(a.Node); ok && p.speakers[i] != nil && p.speakers[i].present && a.State != model.Pending {
			now[a.Node] = append(now[a.Node], a)
		}
	}
	names := slices.Sorted(maps.Keys(now))
	for name := range p.affinities {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Equal(now[name], p.affinities[name]) {
			continue
		}
		p.affinities[name] = now[name]
		at, _ := p.t.Find(name)
		s := p.speakers[at]
		if !s.ready {
			p.configure(s) // it will read this when it starts
		} else {
			p.after(Reload, func() { p.configure(s) })
		}
	}
}

// configure gives a node's BIRD the configuration that confd rendered: the static routes, and
// the filter, which is then applied again to everything inside the blocks.
func (p *Plane) configure(s *speaker) {
	blocks, own := s.blocks, s.own
	s.configure(p.affinities[p.t.Forwarders[s.at].Name])
	for _, b := range blocks {
		if !slices.Contains(s.blocks, b) {
			p.withdraw(s.at, fromStatic, b)
		}
	}
	for _, b := range s.blocks {
		if !slices.Contains(blocks, b) {
			p.originate(s.at, fromStatic, b)
		}
	}
	var changed []netip.Prefix
	for _, b := range slices.Concat(own, s.own) {
		if slices.Contains(own, b) != slices.Contains(s.own, b) {
			changed = append(changed, b)
		}
	}
	if len(changed) == 0 {
		return
	}
	for dst := range p.origins {
		if slices.ContainsFunc(changed, func(b netip.Prefix) bool { return covers(b, dst) }) {
			p.moved[dst] = true
		}
	}
}

// observeLocals applies the addresses of pods. The kernel has their routes immediately. BIRD is
// notified of a new one, and detects the removal of one in its next scan.
//
// It only compares the part of the lists between the first and the last difference, unless nodes
// changed.
func (p *Plane) observeLocals(list []Local) {
	old := p.facts.Local
	if p.recount {
		old = nil
		clear(p.held)
	}
	start := 0
	for start < len(old) && start < len(list) && old[start] == list[start] {
		start++
	}
	end := 0
	for end < len(old)-start && end < len(list)-start && old[len(old)-1-end] == list[len(list)-1-end] {
		end++
	}
	if start == len(list) && start == len(old) && !p.recount {
		return
	}
	changed := map[local]bool{}
	for _, l := range old[start : len(old)-end] {
		p.hold(l, -1, changed)
	}
	for _, l := range list[start : len(list)-end] {
		p.hold(l, 1, changed)
	}
	if p.recount {
		for k := range p.devs {
			changed[k] = true
		}
	}
	p.facts.Local, p.recount = slices.Clone(list), false
	p.localsChanged(slices.SortedFunc(maps.Keys(changed), compareLocal))
}

// hold counts a pod on an address, which more than one may have: that is what
// the simulator looks for.
func (p *Plane) hold(l Local, by int, changed map[local]bool) {
	i, ok := p.t.Find(l.Node)
	if !ok || p.speakers[i] == nil || !p.speakers[i].up {
		return
	}
	k := local{i, l.Addr}
	if p.held[k] == nil {
		p.held[k] = map[string]int{}
	}
	if p.held[k][l.Dev] += by; p.held[k][l.Dev] == 0 {
		delete(p.held[k], l.Dev)
	}
	changed[k] = true
}

func (p *Plane) localsChanged(keys []local) {
	for _, k := range keys {
		had, was := p.devs[k]
		devs := slices.Sorted(maps.Keys(p.held[k]))
		switch {
		case len(devs) == 0 && !was, was && slices.Contains(devs, had):
			if len(devs) == 0 {
				delete(p.held, k)
			}
			continue
		case len(devs) == 0:
			delete(p.devs, k)
			delete(p.held, k)
			p.losses.remove(k)
			p.vanished(k)
		default:
			p.devs[k] = devs[0]
			p.losses.add(k)
			p.appeared(k)
		}
		p.localChanged(k)
	}
}

func compareLocal(a, b local) int {
	return cmp.Or(cmp.Compare(a.at, b.at), a.addr.Compare(b.addr))
}

func (p *Plane) localChanged(k local) {
	dst := netip.PrefixFrom(k.addr, k.addr.BitLen())
	p.here[hereKey{k.at, dst}] = true
	p.stale[dst] = true
}

// vanished removes a pod that is gone with its device. A route that was announced to no other
// router is dropped without waiting for a scan.
func (p *Plane) vanished(k local) {
	dst := netip.PrefixFrom(k.addr, k.addr.BitLen())
	s := p.speakers[k.at]
	if !s.ready || !Exports(p.pools, s.own, dst) {
		p.withdraw(k.at, fromKernel, dst)
		return
	}
	p.after(VethGone, func() {
		if _, back := p.devs[k]; !back {
			p.withdraw(k.at, fromKernel, dst)
		}
	})
}

func (p *Plane) appeared(k local) {
	dst := netip.PrefixFrom(k.addr, k.addr.BitLen())
	s := p.speakers[k.at]
	if !s.ready || !Exports(p.pools, s.own, dst) {
		p.originate(k.at, fromKernel, dst)
		return
	}
	p.after(Announce, func() {
		if _, there := p.devs[k]; there {
			p.originate(k.at, fromKernel, dst)
		}
	})
}

// originate adds a route that a speaker originates.
func (p *Plane) originate(at int, from source, dst netip.Prefix) {
	o := origin{at, from}
	if slices.Contains(p.origins[dst], o) {
		return
	}
	p.origins[dst] = append(p.origins[dst], o)
	slices.SortFunc(p.origins[dst], func(a, b origin) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.source, b.source)) })
	p.moved[dst] = true
}

func (p *Plane) withdraw(at int, from source, dst netip.Prefix) {
	i := slices.Index(p.origins[dst], origin{at, from})
	if i < 0 {
		return
	}
	p.origins[dst] = slices.Delete(p.origins[dst], i, i+1)
	if len(p.origins[dst]) == 0 {
		delete(p.origins, dst)
	}
	p.moved[dst] = true
}
