package baseline

import "slices"

// Decided reports whether a scenario is red regardless of its remaining runs, so that the gate
// need not wait for them: a run did not finish and did before, or a violation is significantly
// more frequent even if no remaining run shows it. There are as many runs in all as behind the
// baseline's rates.
func Decided(before *Baseline, now *Result) bool {
	c := comparison{before: before.Entry(now.Scenario), now: now}
	if c.before == nil || now.Record != nil {
		return false
	}
	for i := range now.Runs {
		if b := c.run(now.Runs[i].Seed); b != nil && b.Ended() && !now.Runs[i].Ended() {
			return true
		}
	}
	runs, full := now.Runs, c.before.Wide
	if now.Wide != nil {
		runs = now.Wide
	}
	for _, inv := range c.invariants() {
		k := hits(runs, inv)
		h, others := c.rate(inv)
		switch {
		case k == 0 || full == 0:
		case h == 0 && !slices.Contains(now.Known, inv):
			if !maybe(inv, k, full) {
				return true
			}
		case More(k, full, max(h, 1), others) < surely:
			return true
		}
	}
	return false
}

// Ended reports whether a run finished: it reached no limit and its process did not die.
func (r *Run) Ended() bool { return r.Cut == "" && r.Digest != "" }
