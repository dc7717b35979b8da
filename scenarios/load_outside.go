package scenarios

import (
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios/strict"
)

// outside checks what has addresses that are no pod's.
func (l *loader) outside(c *check) {
	var keys []string
	for _, n := range l.s.Networks {
		keys = append(keys, n.Key)
	}
	for i, o := range l.s.Doc.Spec.Outside {
		p := at("spec", "outside").Then(i)
		c.bad(o.Name == "", p.Then("name"), "missing: what has the addresses, e.g. gateway")
		_, ok := o.prefix()
		c.bad(!ok, p.Then("range"), "%s is no range, want one such as 10.96.0.0/12, or an address", strict.Quote(o.Range))
		c.bad(o.Network == "" && l.s.Primary == "", p.Then("network"), "missing: no network is that of all pods, %s", strict.Want("", keys))
		c.bad(o.Network != "" && !slices.Contains(keys, o.Network), p.Then("network"), "%s is no network, %s", strict.Quote(o.Network), strict.Want(o.Network, keys))
	}
}

// prefix is the range; ok is false if it is none.
func (o *Outside) prefix() (p netip.Prefix, ok bool) {
	if a, err := netip.ParseAddr(o.Range); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(o.Range)
	return p.Masked(), err == nil
}

// outside returns the addresses outside the cluster.
func (s *Scenario) outside() (out []model.Taken) {
	for _, o := range s.Doc.Spec.Outside {
		p, _ := o.prefix() // checked by Load
		t := model.Taken{Range: p, By: model.Ref{Kind: model.RefOutside, Name: o.Name}, Network: o.Network}
		if t.Network == "" {
			t.Network = s.Primary
		}
		out = append(out, t)
	}
	return out
}
