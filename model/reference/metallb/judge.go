package metallb

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Verdict is what a controller that started now would say of a Service.
type Verdict struct {
	Disallowed bool // it would take its addresses away
	// Free is the number of addresses, each sufficient, that MetalLB can give to a Service
	// that has none, or addresses of the second family for a Service that has one family and
	// prefers two. It counts addresses that other Services share, and is at least one if
	// MetalLB can serve the Service at all.
	Free int
}

// Use counts the assigned and the free addresses of a pool.
type Use struct{ Assigned, Free [2]int } // of IPv4, of IPv6; at most 2^30

// Judge says what a controller that started now would say of each Service: of those that
// have addresses first, in the order in which they are, then of the others; and of each
// pool what its status should say.
//
// Source: internal/k8s/controllers, ServiceReconciler.reprocessAll; controller/service.go,
// convergeBalancer, allocateIPs and, of a second family, AllocateFromPoolForAdditionalFamily.
func Judge(pools []Pool, services []Service) ([]Verdict, []Use) {
	b, out := book{pools, map[netip.Addr][]*Service{}}, make([]Verdict, len(services))
	given := map[netip.Addr]bool{}
	for i := range services {
		s := &services[i]
		for _, a := range s.Has {
			given[a] = true
		}
		switch {
		case len(s.Has) == 0 || !s.V4 && !s.V6:
		case b.keeps(s):
			for _, a := range s.Has {
				b.held[a] = append(b.held[a], s)
			}
		default:
			out[i].Disallowed = true
		}
	}
	for i := range services {
		switch s := &services[i]; {
		case s.Wrong || !s.V4 && !s.V6:
		case len(s.Has) == 0:
			out[i].Free = b.free(s)
		case len(s.Has) == 1 && s.V4 && s.V6 && s.Prefer && !out[i].Disallowed:
			out[i].Free = b.unused(b.pool(s, s.Has), s, !s.Has[0].Is4())
		}
	}
	return out, uses(pools, given)
}

// uses returns the use of each pool, given the assigned addresses.
//
// Source: internal/allocator, updatePoolStats and poolCount.
func uses(pools []Pool, given map[netip.Addr]bool) []Use {
	out := make([]Use, len(pools))
	for i := range pools {
		p := &pools[i]
		out[i].Free = [2]int{p.Size(true), p.Size(false)}
		for a := range given {
			if k := model.Family(a); p.Has(a) {
				out[i].Assigned[k]++
				out[i].Free[k]--
			}
		}
	}
	return out
}

// book contains the holders of addresses.
type book struct {
	pools []Pool
	held  map[netip.Addr][]*Service
}

// keeps reports whether a Service may keep its addresses. They must equal its request; a Service
// whose request cannot be parsed keeps them until it can be.
func (b *book) keeps(s *Service) bool {
	p := b.pool(s, s.Has)
	return p != nil && s.fits(s.Has, true) &&
		(s.Pool == "" || s.Pool == p.Name) && (s.Wrong || len(s.Asks) == 0 || same(s.Asks, s.Has))
}

// pool is the one that all of some addresses are of, if a Service may have them; nil
// otherwise.
//
// Source: internal/allocator, Assign and poolFor.
func (b *book) pool(s *Service, all []netip.Addr) *Pool {
	for i := range b.pools {
		p := &b.pools[i]
		if !slices.ContainsFunc(all, func(a netip.Addr) bool { return !p.Has(a) || !b.shares(s, a) }) && p.Takes(s) {
			return p
		}
	}
	return nil
}

// shares reports whether a Service may have an address together with the Services that have it
// already: all agree on a sharing key and on their backends, and no two use the same port.
//
// Source: website/content/usage, IP address sharing; internal/allocator, checkSharing.
func (b *book) shares(s *Service, a netip.Addr) bool {
	return !slices.ContainsFunc(b.held[a], func(o *Service) bool { return o != s && !s.Terms.Agree(o.Terms) })
}

// free is how many addresses a Service could be given that asks for certain ones, or for a
// pool, or for none.
//
// Source: controller/service.go, allocateIPs; internal/allocator, Allocate, AllocateFromPool.
func (b *book) free(s *Service) (n int) {
	if len(s.Asks) > 0 {
		if p := b.pool(s, s.Asks); p == nil || !s.fits(s.Asks, false) || s.Pool != "" && s.Pool != p.Name {
			return 0
		}
		return len(s.Asks)
	}
	for i := range b.pools {
		p := &b.pools[i]
		if p.Takes(s) && (s.Pool == p.Name || s.Pool == "" && !p.Manual) {
			n += b.freeIn(p, s)
		}
	}
	return min(n, sizeMax)
}

// freeIn is how many addresses of a pool would do. Both of two families have to be of one
// pool.
//
// Source: internal/allocator, findBestPoolForService and selectIPsForFamilyAndPolicy.
func (b *book) freeIn(p *Pool, s *Service) int {
	v4, v6 := b.unused(p, s, true), b.unused(p, s, false)
	switch {
	case !s.V4:
		return v6
	case !s.V6:
		return v4
	case v4 > 0 && v6 > 0 || s.Prefer:
		return v4 + v6
	}
	return 0
}

// unused returns the number of unassigned addresses of a family, or 1 if the only one left is
// shared.
func (b *book) unused(p *Pool, s *Service, v4 bool) (n int) {
	n = p.Size(v4)
	shared := 0
	for a := range b.held {
		if a.Is4() != v4 || !p.Has(a) {
			continue
		}
		n--
		if b.shares(s, a) {
			shared = 1
		}
	}
	return max(n, shared)
}
