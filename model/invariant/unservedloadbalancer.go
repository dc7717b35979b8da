package invariant

import (
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
)

// Codes of UnservedLoadBalancer. ClaimNotInStatus: an address is claimed, but not in the status of
// its Service.
const (
	ClaimNotInStatus = "not-in-status"
	noClaim          = "no-address"
)

// UnservedLoadBalancer is a Service that stays pending forever. Upstream processes all Services
// every five minutes. A Service that requests certain addresses or pools waits for those, and gets
// none if it cannot get all. Some managers report the number of available addresses themselves.
//
// Source: kube-controllers/pkg/controllers/loadbalancer, timer (v3.31.0).
var UnservedLoadBalancer = define(Invariant{
	Name:     "unserved-load-balancer",
	Severity: model.Major,
	Phase:    Quiescent,
	Doc:      "Once all is calm, every Service of type LoadBalancer has the addresses that are claimed for it, and one of each of its IP families where one is free.",
	Kinds: []Kind{
		{ClaimNotInStatus, "after convergence {address} is claimed for {service}, whose status does not show it"},
		{noClaim, "after convergence {service} has no {family} address[ (it had {address})], with {free} free"},
	},
	Cause:    CauseRule{Start: FromWrite, Write: WriteRule{Unnotified: ClaimNotInStatus}},
	Decision: "whether to change the request of the Service, or the pools and their advertisements",
}, func(v View) (out []finding) {
	if !served(&v) {
		return nil
	}
	for _, s := range balanced(&v) {
		if n := s.Balancer.Free; n > 0 && len(s.Balancer.Families) > 0 {
			out = append(out, unserved(&v, s, missing(s.Balancer), n))
			continue
		}
		by, has := model.ServiceOf(s.Name), map[string]bool{}
		for i := range v.Record.Claims {
			c := &v.Record.Claims[i]
			if c.Handle != s.Balancer.Handle {
				continue
			}
			has[model.FamilyOf(c.Addr)] = true
			if !slices.Contains(s.Balancer.Addrs, c.Addr) {
				out = append(out, finding{code: ClaimNotInStatus, objects: []model.Ref{model.AddressOf(c.Addr), by}})
			}
		}
		out = append(out, lacking(&v, s, has)...)
	}
	return out
})

// lacking is for each family that a Service has no address of and could have one of.
func lacking(v *View, s *model.Service, has map[string]bool) (out []finding) {
	for _, family := range s.Balancer.Families {
		of, certain := s.Balancer.From[family]
		if has[family] || certain && len(of) == 0 {
			continue
		}
		free := freeForBalancers(v, family, of)
		switch {
		case certain && free == 0:
			return nil
		case free > 0:
			out = append(out, unserved(v, s, family, free))
		}
	}
	return out
}

// missing is the first family that a Service asks for and has no address of.
func missing(b *model.Balancer) string {
	i := slices.IndexFunc(b.Families, func(f string) bool {
		return !slices.ContainsFunc(b.Addrs, func(a netip.Addr) bool { return model.FamilyOf(a) == f })
	})
	return b.Families[max(i, 0)]
}

// unserved names the address that a Service had before, if any: the process that took it is the
// cause.
func unserved(v *View, s *model.Service, family string, free int) finding {
	f := finding{
		code: noClaim, objects: []model.Ref{model.ServiceOf(s.Name)},
		facts: []model.Fact{model.NewFact("family", family), model.NewFact("free", free)},
	}
	if had, ok := v.Past.balanced[balancedFamily{s.Balancer.Handle, family}]; ok {
		f.objects = append(f.objects, model.AddressOf(had))
	}
	return f
}

// balancerRound is longer than the time between two looks at all Services.
const balancerRound = 6 * time.Minute

// served reports whether the process that serves Services has had a round since something
// last kept it from its work. There may be no such process: where the record does not show
// one, at least one Service has been served.
func served(v *View) bool {
	if v.Past == nil || len(v.Past.balanced) == 0 && (v.Record.Services == nil || !v.Record.Services.Balancing) {
		return false
	}
	wait := balancerRound
	if v.Truth.At-v.Late < slow {
		wait += slow
	}
	return v.Truth.At-max(disturbed(v), written(v)) > wait
}

// written is when a user last did something, which may have been to a Service or a pool.
func written(v *View) time.Duration {
	if v.History != nil {
		for _, e := range slices.Backward(v.History.Events) {
			if e.Kind == model.Operator {
				return e.At
			}
		}
	}
	return 0
}

// balancedFamily is a family of a Service that got an address of it.
type balancedFamily struct{ handle, family string }

// noteBalanced remembers which addresses Services were given.
func (p *Past) noteBalanced(v *View) {
	if p.balanced == nil {
		p.balanced = map[balancedFamily]netip.Addr{}
	}
	for _, s := range balanced(v) {
		for _, a := range s.Balancer.Addrs {
			p.balanced[balancedFamily{s.Balancer.Handle, model.FamilyOf(a)}] = a
		}
	}
}

// freeForBalancers is how many addresses of a family a Service can have, at least, of those
// that it asks for, or of any if it does not.
func freeForBalancers(v *View, family string, of []netip.Prefix) (free int) {
	for i := range v.Networks {
		b := v.Networks[i].Blocks
		if b == nil || !b.AutoAllocate {
			continue
		}
		for j := range b.Pools {
			p := &b.Pools[j]
			if !p.LoadBalancers || p.Disabled || model.FamilyOf(p.Prefix.Addr()) != family {
				continue
			}
			switch {
			case len(of) == 0 && !p.Manual && !p.Selective, slices.Contains(of, p.Prefix):
				free += max(0, freeOf(v, p.Prefix, b.Reserved))
			case len(of) == 1 && of[0].IsSingleIP() && p.Prefix.Overlaps(of[0]):
				free += max(0, freeOf(v, of[0], nil)) // reserved or not
			}
		}
	}
	return free
}

// freeOf is a lower bound of the number of addresses of a prefix that are neither claimed nor
// reserved.
func freeOf(v *View, p netip.Prefix, reserved []netip.Prefix) int {
	n := sizeOf(p)
	for i := range v.Record.Claims {
		if p.Contains(v.Record.Claims[i].Addr) {
			n--
		}
	}
	for _, r := range reserved {
		if r.Overlaps(p) {
			n -= sizeOf(netip.PrefixFrom(r.Addr(), max(r.Bits(), p.Bits())))
		}
	}
	return n
}

// sizeOf is how many addresses a prefix has, at most 2^20.
func sizeOf(p netip.Prefix) int { return 1 << min(p.Addr().BitLen()-p.Bits(), 20) }
