package canary

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// ledger is the spec of a CanaryPool: everything under one network_name.
type ledger struct {
	Network string `json:"network,omitempty"`
	// Bug is the bug of the network that wrote last: the reconciler has no
	// other way to know how wrong it should be.
	Bug          string        `json:"bug,omitempty"`
	Pools        []pool        `json:"pools,omitempty"`
	Claims       []claim       `json:"claims,omitempty"`
	Reservations []reservation `json:"reservations,omitempty"`
	// With blocks the pools are blocks, and instead of reservations there are
	// affinities and handles.
	Affinities []affinity `json:"affinities,omitempty"`
	Handles    []handle   `json:"handles,omitempty"`
}

type pool struct {
	Name  string       `json:"name"`
	Range netip.Prefix `json:"range"`
	Node  string       `json:"node,omitempty"`
	Lost  int          `json:"lost,omitempty"` // addresses that are never handed out
}

type claim struct {
	Pool      string     `json:"pool"`
	Addr      netip.Addr `json:"addr"`
	Pod       string     `json:"pod"`
	UID       string     `json:"uid,omitempty"`
	Container string     `json:"container,omitempty"`
	Interface string     `json:"interface,omitempty"`
	Node      string     `json:"node,omitempty"` // with blocks
}

type reservation struct {
	Addr      netip.Addr `json:"addr"`
	Pod       string     `json:"pod"`
	Interface string     `json:"interface,omitempty"`
}

// add records an ADD and returns its address; changed is false if the ADD was already recorded. It
// returns an error wrapping ipam.ErrExhausted if no address is left.
//
// A repeated request for the same container gets the same answer: an ADD whose reply was lost is
// retried. A new container of the same pod object takes over its predecessor's address: a kubelet
// starts a sandbox only after the previous one is gone, even if its DEL never succeeded (a reboot).
// before is gone, even if its DEL never came through (a reboot).
func (l *ledger) add(p *policy, c ipam.Call) (addr netip.Addr, changed bool, err error) {
	for i := range l.Claims {
		k := &l.Claims[i]
		switch {
		case k.Interface != c.Interface:
		case k.Container == c.Container:
			return k.Addr, false, nil
		case k.UID == c.UID && c.UID != "":
			k.Container = c.Container
			return k.Addr, true, nil
		}
	}
	find := l.pool
	if p.network.Blocks != nil {
		find = l.block
	}
	from, err := find(p, c.Node)
	if err != nil {
		return netip.Addr{}, false, err
	}
	addr, ok := l.pick(p, from)
	if !ok {
		return netip.Addr{}, false, fmt.Errorf("canary: %s: pool %s: %w", c.Pod, from.Name, ipam.ErrExhausted)
	}
	l.Bug = p.bug
	k := claim{Pool: from.Name, Addr: addr, Pod: c.Pod.String(), UID: c.UID, Container: c.Container, Interface: c.Interface}
	if p.network.Blocks != nil {
		k.Node = c.Node
	}
	l.enter(k)
	if f := bugs[p.bug].enter; f != nil {
		f(l, p, from, k)
	}
	return addr, true, nil
}

func (l *ledger) enter(k claim) {
	l.Claims = append(l.Claims, k)
	if k.Node != "" {
		l.count(k, 1)
		return
	}
	l.Reservations = append(l.Reservations, reservation{Addr: k.Addr, Pod: k.Pod, Interface: k.Interface})
}

// release removes the claims that gone picks, with their reservations, and
// reports whether it changed anything. Reservations without a claim go too, and
// so do handles without an address and blocks without a claim.
func (l *ledger) release(gone func(claim) bool) bool {
	before := len(l.Claims) + len(l.Reservations)
	if f := bugs[l.Bug].release; f != nil {
		f(l, gone)
	} else {
		l.releaseClaims(gone)
		l.releaseBlocks()
		l.Reservations = slices.DeleteFunc(l.Reservations, func(r reservation) bool { return !l.claimed(r.Addr) })
	}
	return len(l.Claims)+len(l.Reservations) != before
}

func (l *ledger) releaseClaims(gone func(claim) bool) {
	for _, k := range l.Claims {
		if k.Node != "" && gone(k) {
			l.count(k, -1)
		}
	}
	l.Claims = slices.DeleteFunc(l.Claims, gone)
}

func (l *ledger) claimed(a netip.Addr) bool {
	return slices.ContainsFunc(l.Claims, func(k claim) bool { return k.Addr == a })
}

// taken reports whether an address is in use under this network_name, in any pool.
func (l *ledger) taken(a netip.Addr) bool {
	return l.claimed(a) || slices.ContainsFunc(l.Reservations, func(r reservation) bool { return r.Addr == a })
}

// pick chooses the address of a new claim: the lowest that is free.
func (l *ledger) pick(p *policy, from pool) (netip.Addr, bool) {
	if f := bugs[p.bug].pick; f != nil {
		return f(l, p, from)
	}
	return lowest(p, from, l.taken)
}

// lowest is the lowest address of the range, within the pool and without that
// pool's own first and last address unless it is a block, that is not taken. It
// jumps over excludes: an IPv6 exclude cannot be walked through.
func lowest(p *policy, within pool, taken func(netip.Addr) bool) (netip.Addr, bool) {
	r := p.span()
	first, last := within.Range.Addr(), model.LastAddr(within.Range)
	if p.network.Blocks == nil {
		first, last = first.Next(), last.Prev()
	}
	for a := first; a.IsValid() && !last.Less(a); a = a.Next() {
		x := slices.IndexFunc(r.Exclude, func(x netip.Prefix) bool { return x.Contains(a) })
		switch {
		case x >= 0:
			a = model.LastAddr(r.Exclude[x])
		case r.Contains(a) && !taken(a):
			return a, true
		}
	}
	return netip.Addr{}, false
}

// pool finds or makes the pool that a node's claims for a network come from: one
// for the whole range, or the node's slice of it.
func (l *ledger) pool(p *policy, node string) (pool, error) {
	r := p.span().Prefix
	want := pool{Name: poolName("", r), Range: r}
	if p.network.Slice > 0 {
		want.Node = node
	}
	for _, have := range l.Pools {
		if have.Node == want.Node && (have.Range == r || (have.Node != "" && r.Contains(have.Range.Addr()))) {
			return have, nil
		}
	}
	if want.Node != "" {
		var ok bool
		if want.Range, ok = l.slice(p); !ok {
			return pool{}, fmt.Errorf("canary: no slice of %s left for %s: %w", r, node, ipam.ErrExhausted)
		}
		want.Name = poolName(node, want.Range)
	}
	l.Pools = append(l.Pools, want)
	return want, nil
}

// slice chooses the slice of a node that has none: the first free one.
func (l *ledger) slice(p *policy) (netip.Prefix, bool) {
	r := p.span().Prefix
	if bugs[p.bug].oneSlice && slices.ContainsFunc(l.Pools, func(q pool) bool { return q.Node != "" }) {
		return netip.Prefix{}, false
	}
	s := netip.PrefixFrom(r.Addr(), p.network.Slice)
	for s.Addr().IsValid() && r.Contains(s.Addr()) {
		if bugs[p.bug].sameSlice || !slices.ContainsFunc(l.Pools, func(q pool) bool { return q.Node != "" && q.Range.Overlaps(s) }) {
			return s, true
		}
		s = netip.PrefixFrom(model.LastAddr(s).Next(), p.network.Slice)
	}
	return netip.Prefix{}, false
}

// poolName is a pool's name, "10.0.0.0-29" or "node-1-10.0.0.0-30".
func poolName(node string, r netip.Prefix) string {
	name := strings.NewReplacer("/", "-", ":", "-").Replace(r.String())
	if node != "" {
		return node + "-" + name
	}
	return name
}
