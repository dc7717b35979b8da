package remedy

import (
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/sim/cluster/checker"
)

// shut is a gate that a person would not have gone through.
type shut struct {
	waiting []model.PodRef // have no address
	missing int            // so many more pods have not come
	full    netip.Prefix   // the block is not empty; the zero value: it is
}

// looks sees at each gate whether it is open.
func (t *Theatre) looks(gates []gate, closed *[]shut) checker.Looks {
	out := checker.Looks{See: func(i int, v metric.View) {
		if s := t.check(&gates[i], &v); len(s.waiting) > 0 || s.missing > 0 || s.full.IsValid() {
			*closed = append(*closed, s)
		}
	}}
	for _, g := range gates {
		out.At = append(out.At, g.at+lookAfter)
	}
	return out
}

// lookAfter is when somebody looks who has waited: a command takes a moment.
const lookAfter = 500 * time.Millisecond

func (t *Theatre) check(g *gate, v *metric.View) (s shut) {
	has, fresh := addresses(&v.Truth), 0
	for p := range has {
		if _, before := t.before.Truth.Pods[p]; !before && !slices.Contains(g.up, p) && p.Namespace != "" {
			fresh++
		}
	}
	s.missing = max(g.fresh-fresh, 0)
	for _, p := range g.up {
		if len(has[p]) == 0 {
			s.waiting = append(s.waiting, p)
		}
	}
	if g.empty.IsValid() && slices.ContainsFunc(v.Record.Claims, func(c model.Claim) bool { return g.empty.Contains(c.Addr) }) {
		s.full = g.empty
	}
	return s
}
