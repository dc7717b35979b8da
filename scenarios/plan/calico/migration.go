package calico

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/cluster"
)

// livePool is an IPPool as the reference, routes and the datastore have it.
type livePool struct {
	reference.Pool
	routing  calico.Routing
	manifest *poolManifest
}

func livePools(s *scenarios.Scenario) (out []livePool, err error) {
	pools, err := poolsOf(s.Objects)
	if err != nil {
		return nil, err
	}
	manifests, _, err := poolManifests(s.Objects)
	if err != nil {
		return nil, err
	}
	routing := routingOf(s.Policies())
	for i, x := range pools { // both are in the order of the manifests
		x.BlockBits = blockBits(x)
		out = append(out, livePool{x, routing[x.Name], manifests[i]})
	}
	return out, nil
}

// blockBits are the pool's own, or upstream's default.
func blockBits(p reference.Pool) int { return cmp.Or(p.BlockBits, p.Prefix.Addr().BitLen()-6) }

// routingOf is how the addresses of pools are carried, by the pool's name.
func routingOf(networks []model.Network) map[string]calico.Routing {
	out := map[string]calico.Routing{}
	for _, n := range networks {
		if n.Blocks == nil {
			continue
		}
		for _, x := range n.Blocks.Pools {
			out[x.Name] = calico.Routing{NoExport: x.NoExport, IPIP: x.IPIP, VXLAN: x.VXLAN}
		}
	}
	return out
}

// mover finds the way from the pools that there are to those that there are to be.
type mover struct {
	d      draft
	stored []cluster.Object
	taken  []netip.Prefix
	names  []string
	create []livePool
	leave  []livePool // are disabled, and deleted when their pods have gone
	build  []livePool // are created then where one was left
	via    []livePool // temporary pools for the pods
}

// migration returns the steps: new pools are created, old ones disabled, their pods
// restarted, and the pools deleted, as Calico's documentation describes. An IPPool's
// CIDR and the size of its blocks cannot be edited. So
//
//   - a pool that grows gets additional pools for the difference;
//   - a pool that moves is replaced by a new one;
//   - a pool that shrinks, or changes its block size, is rebuilt: its pods
//     go to a temporary pool until no block of it is left, and come back.
//
// No block ever overlaps another: Calico refuses a pool as long as blocks of another
// size lie in it.
//
// Source: docs.tigera.io/calico/latest/networking/ipam, "Migrate from one IP pool to
// another" and "Change IP pool block size".
func (d draft) migration(from, to []livePool, stored []cluster.Object) ([]plan.Step, error) {
	m := &mover{d: d, stored: stored}
	for _, p := range slices.Concat(from, to) {
		m.taken, m.names = append(m.taken, p.Prefix), append(m.names, p.Name)
	}
	for _, old := range from {
		if !slices.ContainsFunc(to, func(p livePool) bool { return p.Name == old.Name }) {
			m.leave = append(m.leave, old)
		}
	}
	for _, now := range to {
		i := slices.IndexFunc(from, func(p livePool) bool { return p.Name == now.Name })
		if i < 0 {
			m.create = append(m.create, now)
			continue
		}
		if err := m.change(from[i], now); err != nil {
			return nil, err
		}
	}
	if len(d.temporary()) > 0 && len(d.temporary()) != len(m.via) {
		return nil, &plan.Mistake{Setting: "temporaryPool", Problem: fmt.Sprintf("%s, and %s to be rebuilt", count(len(d.temporary()), "CIDR"), either(len(m.via), "1 pool is", fmt.Sprintf("%d pools are", len(m.via))))}
	}
	return m.steps()
}

func either(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// change is the way of one pool.
func (m *mover) change(old, now livePool) error {
	switch {
	case now.Prefix == old.Prefix && now.BlockBits == old.BlockBits:
		return nil
	case now.BlockBits == old.BlockBits && now.Prefix.Bits() < old.Prefix.Bits() && now.Prefix.Contains(old.Prefix.Addr()):
		for at := old.Prefix; at != now.Prefix; {
			beside := sibling(at)
			p, err := old.like(m.name(old.Name), beside, old.BlockBits)
			if err != nil {
				return err
			}
			m.create = append(m.create, p)
			at = netip.PrefixFrom(at.Addr(), at.Bits()-1).Masked()
		}
		return nil
	case !now.Prefix.Overlaps(old.Prefix):
		p, err := now.like(m.name(old.Name), now.Prefix, now.BlockBits)
		m.create, m.leave = append(m.create, p), append(m.leave, old)
		return err
	}
	at, err := m.room(old, now)
	if err != nil {
		return err
	}
	p, err := now.like(m.name(old.Name+"-temporary"), at, now.BlockBits)
	m.create, m.leave, m.build, m.via = append(m.create, p), append(m.leave, old), append(m.build, now), append(m.via, p)
	return err
}

// sibling is the other half of the prefix that is a bit shorter.
func sibling(p netip.Prefix) netip.Prefix {
	up := netip.PrefixFrom(p.Addr(), p.Bits()-1).Masked()
	if up.Addr() != p.Addr() {
		return netip.PrefixFrom(up.Addr(), p.Bits())
	}
	return netip.PrefixFrom(model.LastAddr(p).Next(), p.Bits())
}

// like is a pool as this one, under another name and address.
func (p *livePool) like(name string, at netip.Prefix, bits int) (livePool, error) {
	out := *p
	var err error
	out.manifest, err = p.manifest.like(name, at)
	if err == nil {
		out.manifest.spec()["blockSize"] = bits
	}
	out.Name, out.Prefix, out.BlockBits = name, at, bits
	return out, err
}

// name returns an unused name of a pool: this one, or with a number.
func (m *mover) name(name string) string {
	out := name
	for n := 2; slices.Contains(m.names, out); n++ {
		out = fmt.Sprintf("%s-%d", strings.TrimSuffix(name, "-temporary"), n)
	}
	m.names = append(m.names, out)
	return out
}

// Default ranges for temporary pools: shared address space (RFC 6598), and the end of the unique
// local addresses (RFC 4193).
var (
	roomFour = netip.MustParsePrefix("100.64.0.0/10")
	roomSix  = netip.MustParsePrefix("fdff::/16")
)

// room is where the pods of a pool go while it is rebuilt: as many addresses as the
// larger of both has.
func (m *mover) room(old, now livePool) (netip.Prefix, error) {
	if i := len(m.via); i < len(m.d.temporary()) {
		at := m.d.temporary()[i]
		switch over := slices.IndexFunc(m.taken, at.Overlaps); {
		case at.Addr().Is4() != old.Prefix.Addr().Is4():
			return at, &plan.Mistake{Setting: "temporaryPool", Problem: fmt.Sprintf("%s is not of the family of %s, %s", at, old.Name, old.Prefix)}
		case over >= 0:
			return at, &plan.Mistake{Setting: "temporaryPool", Problem: fmt.Sprintf("%s overlaps pool %s", at, m.taken[over])}
		case at.Bits() > now.BlockBits:
			return at, &plan.Mistake{Setting: "temporaryPool", Problem: fmt.Sprintf("%s is smaller than a block of /%d", at, now.BlockBits)}
		}
		m.taken = append(m.taken, at)
		return at, nil
	}
	in := roomFour
	if old.Prefix.Addr().Is6() {
		in = roomSix
	}
	bits := min(old.Prefix.Bits(), now.Prefix.Bits())
	for at := netip.PrefixFrom(in.Addr(), bits); bits >= in.Bits() && at.IsValid() && in.Overlaps(at); at = netip.PrefixFrom(model.LastAddr(at).Next(), bits) {
		if !slices.ContainsFunc(m.taken, at.Overlaps) {
			m.taken = append(m.taken, at)
			return at, nil
		}
	}
	return in, &plan.Mistake{Setting: "temporaryPool", Problem: fmt.Sprintf("missing: %s has no room for the pods of %s while it is rebuilt", in, old.Name)}
}

// untyped is the step that gives a type to the affinities that have none, of blocks in
// pools that are deleted; ok is false if there are none.
func (m *mover) untyped() (out plan.Step, ok bool) {
	var change calico.Change
	for _, o := range m.stored {
		var a struct {
			Spec struct {
				CIDR string `json:"cidr"`
				Type string `json:"type"`
			} `json:"spec"`
		}
		if o.Kind != "BlockAffinity" || json.Unmarshal(o.Body, &a) != nil || a.Spec.Type != "" {
			continue
		}
		at, err := netip.ParsePrefix(a.Spec.CIDR)
		if err == nil && slices.ContainsFunc(m.leave, func(p livePool) bool { return p.Prefix.Contains(at.Addr()) }) {
			change.Affinities = append(change.Affinities, at)
			out.Events = append(out.Events, patched("blockaffinities", o.Name, plan.Body{"type": "host"}))
		}
	}
	out.Kind, out.Change = calico.TypeAffinities, change
	return out, len(change.Affinities) > 0
}

// steps of all that is to be done.
func (m *mover) steps() (out []plan.Step, err error) {
	do := func(kind workload.StepKind, pools []livePool) {
		for _, p := range pools {
			s := plan.Step{Step: calico.OfPool(kind, p.Pool, p.routing)}
			var e error
			if s.Events, e = operate(kind, &p); e != nil {
				err = e
			}
			out = append(out, s)
		}
	}
	restart := func(pools []netip.Prefix) {
		if len(pools) > 0 {
			out = append(out, plan.Step{Step: workload.Step{Kind: workload.RestartPods, Pools: pools}})
		}
	}
	prefixes := func(pools []livePool) (out []netip.Prefix) {
		for _, p := range pools {
			out = append(out, p.Prefix)
		}
		return out
	}
	if s, ok := m.untyped(); ok {
		out = append(out, s)
	}
	enabled := slices.DeleteFunc(slices.Clone(m.leave), func(p livePool) bool { return p.Disabled })
	do(calico.CreatePool, m.create)
	do(calico.DisablePool, enabled)
	restart(prefixes(m.leave))
	do(calico.DeletePool, m.leave)
	do(calico.CreatePool, m.build)
	do(calico.DisablePool, m.via)
	restart(prefixes(m.via))
	do(calico.DeletePool, m.via)
	if all, _ := plan.Value[bool](m.d.Draft, "restartPods"); all {
		slices.SortFunc(m.taken, netip.Prefix.Compare)
		restart(slices.Compact(m.taken))
	}
	return out, err
}
