package route

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// observeAffinities tells each node's BIRD which blocks it has affinities for.
func (p *Plane) observeAffinities(list []model.Affinity) {
	if !p.reread && slices.Equal(list, p.facts.Affinities) {
		return
	}
	p.facts.Affinities, p.reread = slices.Clone(list), false
	now := map[string][]model.Affinity{}
	for _, a := range list {
		if i, ok := p.t.at[a.Node]; ok && p.speakers[i] != nil && p.speakers[i].present && a.State != model.Pending && a.Block.Addr().Is4() {
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
		s := p.speakers[p.t.at[name]]
		if !s.ready {
			p.configure(s) // it will read this when it starts
		} else {
			p.after(Reload, func() { p.configure(s) })
		}
	}
}

// configure gives a node's BIRD what confd rendered: the static routes, and the
// filter, which decides anew about everything inside the blocks.
func (p *Plane) configure(s *speaker) {
	blocks, own := s.blocks, s.own
	s.configure(p.affinities[p.t.places[s.at].name])
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

// observeLocals takes over the addresses of pods. The kernel has their routes at
// once. BIRD hears of a new one, and sees with its next scan that one is gone.
func (p *Plane) observeLocals(list []Local) {
	now := make(map[local]string, len(list))
	for _, l := range list {
		if i, ok := p.t.at[l.Node]; ok && p.speakers[i] != nil && p.speakers[i].up && l.Addr.Is4() {
			now[local{i, l.Addr}] = l.Dev
		}
	}
	var come, gone []local
	for k, dev := range p.devs {
		if d, ok := now[k]; !ok || d != dev {
			gone = append(gone, k)
		}
	}
	for k, dev := range now {
		if d, ok := p.devs[k]; !ok || d != dev {
			come = append(come, k)
		}
	}
	slices.SortFunc(come, compareLocal)
	slices.SortFunc(gone, compareLocal)
	p.devs = now
	for _, k := range gone {
		p.localChanged(k)
		p.losses.remove(k)
		p.vanished(k)
	}
	for _, k := range come {
		p.localChanged(k)
		p.losses.add(k)
		p.appeared(k)
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

// vanished is a pod that is gone with its device. A route that nobody else was
// told of needs no scan to be forgotten.
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

// originate gives a speaker a route of its own.
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
