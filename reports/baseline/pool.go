package baseline

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"ipamsim/reports"
)

// pool is a measure summed over all scenarios of a manager that ran before and now.
type pool struct {
	manager     string
	measure     reports.Measure
	before, now reports.Amount
	change      *Change // nil: within its tolerance
	folded      int     // scenarios that moved with it
}

// poolings holds all pools.
type poolings struct{ all []*pool }

// pooled sums the costs of each manager's scenarios in the gate's runs.
func pooled(before *Baseline, now []Result) *poolings {
	type key struct {
		manager string
		measure reports.Measure
	}
	by := map[key]*pool{}
	for i := range now {
		r := &now[i]
		e := before.Entry(r.Scenario)
		if e == nil || r.Record != nil || !comparable(e.Runs, r.Runs) {
			continue
		}
		for m, x := range summed(r.Runs) {
			b, ok := e.cost(m)
			if !ok {
				continue
			}
			k := key{r.Manager, m}
			if by[k] == nil {
				by[k] = &pool{manager: r.Manager, measure: m}
			}
			p := by[k]
			p.before = reports.Amount{Sum: p.before.Sum + b.Sum, Of: p.before.Of + b.Of}
			p.now = reports.Amount{Sum: p.now.Sum + x.Sum, Of: p.now.Of + x.Of}
		}
	}
	ps := &poolings{}
	keys := slices.SortedFunc(maps.Keys(by), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.manager, b.manager), cmp.Compare(a.measure.String(), b.measure.String()))
	})
	for _, k := range keys {
		p := by[k]
		ps.all = append(ps.all, p)
		was, is := p.before.Each(), p.now.Each()
		t := before.tolerances()[p.measure.Family]
		if math.Abs(is-was) > max(t.Pooled*math.Abs(was), t.Absolute/10)+1e-6 {
			ch := moved(p.measure, was, is, "")
			p.change = &ch
		}
	}
	return ps
}

// comparable reports whether two results have the same seeds with the same violations. If two pods
// no longer share an address, there are more addresses, which is not worse. A run that died has no
// costs.
func comparable(before, now []Run) bool {
	return slices.EqualFunc(before, now, func(b, n Run) bool {
		return b.Seed == n.Seed && n.Cost != nil && slices.Equal(b.Violated, n.Violated)
	})
}

// fold removes from a scenario's changes the costs that changed in all of its manager's scenarios:
// they are one change, not one for each scenario.
func (ps *poolings) fold(manager string, all []Change) []Change {
	return slices.DeleteFunc(all, func(c Change) bool {
		p := ps.of(manager, c.Measure)
		if c.Kind != CostMoved || p == nil || p.change.Regression != c.Regression {
			return false
		}
		p.folded++
		return true
	})
}

// of returns the pool of a manager's measure, nil if it did not change.
func (ps *poolings) of(manager string, measure reports.Measure) *pool {
	for _, p := range ps.all {
		if p.manager == manager && p.measure == measure && p.change != nil {
			return p
		}
	}
	return nil
}

// moved reports whether a measure of all of a manager's scenarios changed in this direction.
func (ps *poolings) moved(manager string, measure reports.Measure, more bool) bool {
	p := ps.of(manager, measure)
	return p != nil && p.change.Regression == more
}

// rows returns a row for each manager with a changed measure.
func (ps *poolings) rows() []Row {
	var out []Row
	for _, p := range ps.all {
		if p.change == nil {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Manager != p.manager {
			out = append(out, Row{Scenario: "all of " + p.manager, Manager: p.manager, File: "go.mod", Line: 1, Pool: true,
				Title: fmt.Sprintf("the mean over all scenarios of %s", p.manager)})
		}
		if p.folded > 0 {
			p.change.Sentence += fmt.Sprintf(" Also in %d of its scenarios alone.", p.folded)
		}
		last := &out[len(out)-1]
		last.Changes = append(last.Changes, *p.change)
	}
	for i := range out {
		sortChanges(out[i].Changes)
	}
	return out
}
