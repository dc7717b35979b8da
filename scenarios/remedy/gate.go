package remedy

import (
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/sim/cluster/checker"
)

// shut describes a gate that was closed, where an operator would have stopped.
type shut struct {
	waiting []model.PodRef // pods without an address
	missing int            // recreated pods that do not exist yet
	full    netip.Prefix   // the block that is not empty; the zero value: it is empty
}

// samples checks each gate at its time and appends those that are closed.
func (t *Simulator) samples(gates []gate, closed *[]shut) checker.Samples {
	out := checker.Samples{See: func(i int, v metric.View) {
		if s := t.check(&gates[i], &v); len(s.waiting) > 0 || s.missing > 0 || s.full.IsValid() {
			*closed = append(*closed, s)
		}
	}}
	for _, g := range gates {
		out.At = append(out.At, g.at+sampleAfter)
	}
	return out
}

// sampleAfter is how long after a wait a gate is checked: the last command takes a moment.
const sampleAfter = 500 * time.Millisecond

func (t *Simulator) check(g *gate, v *metric.View) (s shut) {
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
