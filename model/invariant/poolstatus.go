package invariant

import "ipamsim/model"

// PoolStatus is a pool whose status reports that it is full, or empty, although it is not. For very
// large pools the number of free addresses does not matter.
var PoolStatus = define(Invariant{
	Name:     "pool-status",
	Severity: model.Minor,
	Phase:    Quiescent,
	Doc:      "Once all is calm, the status of a pool for load balancers reports how many of its addresses are assigned, and how many are free.",
	Kinds:    []Kind{{"", "after convergence the status of pool {pool} reports {counted} {family} addresses assigned and {left} free; in fact {used} are assigned and {free} free"}},
	Cause:    CauseRule{Start: FromStatus},
}, func(v View) (out []finding) {
	if v.Record.Services == nil || !served(&v) {
		return nil
	}
	const many = 1 << 29 // a count stops at twice this number
	for _, p := range v.Record.Services.Pools {
		if p.Assigned == p.Used && (p.Free == p.Unused || min(p.Free, p.Unused) >= many) {
			continue
		}
		out = append(out, finding{
			objects: []model.Ref{poolName(p.Pool)},
			facts: []model.Fact{
				model.NewFact("family", p.Family), model.NewFact("counted", p.Assigned), model.NewFact("left", p.Free),
				model.NewFact("used", p.Used), model.NewFact("free", p.Unused),
			},
		})
	}
	return out
})
