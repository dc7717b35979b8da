package invariant

import (
	"slices"
	"time"

	"ipamsim/model"
)

// Codes of UnbackedService and LeakedServiceClaim.
const (
	NoIPAddress        = "no-ip-address"
	ipAddressOfAnother = "ip-address-of-another"
	nodePortFree       = "node-port-free"
	ipAddressLeft      = "ip-address"
	nodePortLeft       = "node-port"
)

// gap is a difference between a Service and the object that records the owner of its address or
// node port.
type gap struct {
	code          string
	of, by, other model.Ref // the address or node port; the Service; for of-another, the other Service
}

// gaps are all there are, in any order.
func gaps(s *model.Services) (out []gap) {
	used := map[int]bool{}
	for i := range s.All {
		x := &s.All[i]
		by := model.ServiceOf(x.Name)
		for _, a := range x.Addrs {
			c := s.Claim(a)
			switch {
			case !s.InRange(a): // upstream leaves it alone
			case c == nil:
				out = append(out, gap{code: NoIPAddress, of: model.AddressOf(a), by: by})
			case c.Service != x.Name:
				if o := s.Service(c.Service); o == nil || !slices.Contains(o.Addrs, a) { // else it is a duplicate
					out = append(out, gap{ipAddressOfAnother, model.AddressOf(a), by, model.ServiceOf(c.Service)})
				}
			}
		}
		for _, p := range x.Ports {
			if used[p.Port] = true; s.HasPorts && !slices.Contains(s.Ports, p.Port) {
				out = append(out, gap{code: nodePortFree, of: model.NodePortOf(p.Port), by: by})
			}
		}
	}
	for _, c := range s.Claims {
		if x := s.Service(c.Service); c.Managed && (x == nil || !slices.Contains(x.Addrs, c.Addr)) {
			out = append(out, gap{code: ipAddressLeft, of: model.AddressOf(c.Addr), by: model.ServiceOf(c.Service)})
		}
	}
	for _, p := range s.Ports {
		if !used[p] {
			out = append(out, gap{code: nodePortLeft, of: model.NodePortOf(p)})
		}
	}
	return out
}

// noteGaps remembers since when there are such.
func (p *Past) noteGaps(v *View) {
	if v.Record.Services == nil {
		return
	}
	was := p.gaps
	p.gaps = map[gap]time.Duration{}
	for _, g := range gaps(v.Record.Services) {
		since, ok := was[g]
		if !ok {
			since = v.Truth.At
		}
		p.gaps[g] = since
	}
}

// longGaps are the gaps of some codes that have lasted longer than after.
func longGaps(v *View, after func(gap) time.Duration) (out []finding) {
	if v.Past == nil {
		return nil
	}
	for g, since := range v.Past.gaps {
		if bound := after(g); bound == 0 || v.Truth.At-since <= bound {
			continue
		}
		f := finding{code: g.code, objects: []model.Ref{g.of}, facts: []model.Fact{model.NewFact("since", since)}}
		if g.by.Name != "" {
			f.objects = append(f.objects, g.by)
			f.facts = append(f.facts, model.NewFact("by", g.by))
		}
		if g.other.Name != "" {
			f.facts = append(f.facts, model.NewFact("other", g.other))
		}
		out = append(out, f)
	}
	return out
}
