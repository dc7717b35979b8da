package baseline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
)

// Compare lists the differences from the baseline, and which of them are regressions.
//
// A run with the same messages in the same order and the same final state as before is compared
// directly. If the messages differ, because upstream or ipamsim changed, every later latency
// differs. Violations and costs are then compared statistically: many seeds in the baseline with
// as many seeds now. A violation
//
//   - never seen before is reported if it occurs at all, and red if it occurs in more than
//     a few runs;
//   - seen before is red if it is more frequent than chance explains;
//   - no longer seen, although chance would have shown it, is vanished and red if upstream is
//     the same: ipamsim detects less. If upstream differs, it is fixed and green if nothing
//     else differs; otherwise changed and red, for review (see fixes).
//
// If the same messages have another verdict, ipamsim changed: new and vanished are red. A crash
// is not a message: a different upstream may crash, or stop crashing, between equal messages.
//
// A cost is red if it exceeds its tolerance, in one scenario, or in all of a manager's scenarios
// together, where the tolerance is smaller. A lower cost is reported. Scenarios whose violations
// differ under one of their seeds do not count for the sum. A scenario that is not in the baseline
// is reported; a scenario without a file is red if all is true, which means that now is complete.
func Compare(before *Baseline, now []Result, all bool) *Outcome {
	o := &Outcome{Versions: versionsOf(before, now)}
	pools, tolerances := pooled(before, now), before.tolerances()
	known := map[string]bool{}
	for i := range now {
		r := &now[i]
		known[r.Scenario] = true
		row := Row{Scenario: r.Scenario, File: r.File, Line: max(1, r.Line), Manager: r.Manager, Title: r.Title,
			Runs: max(len(r.Runs), len(r.Wide)), Wall: r.Wall, Changes: slices.Clone(r.Troubles)}
		c := comparison{before: before.Entry(r.Scenario), now: r, tolerances: tolerances, sameUpstream: before.Upstream[r.Manager] == r.Upstream}
		row.Changes = append(row.Changes, c.changes()...)
		row.Changes = pools.fold(r.Manager, row.Changes)
		o.Undecided += c.undecided
		o.Moved += c.moved()
		sortChanges(row.Changes)
		o.Rows = append(o.Rows, row)
		o.Runs += row.Runs
		o.Wall += r.Wall
	}
	for i := range before.Scenarios {
		if e := &before.Scenarios[i]; all && !known[e.Scenario] {
			o.Rows = append(o.Rows, Row{Scenario: e.Scenario, Manager: e.Manager, File: before.File, Line: max(1, e.Line), Changes: []Change{{
				Kind: MissingScenario, Regression: true, What: "scenario", Before: "present", After: "missing",
				Sentence: "The baseline has this scenario, but no file does. If that is intended: ipamsim gate --update.",
			}}})
		}
	}
	o.Rows = append(pools.rows(), o.Rows...)
	return o
}

// Doubts returns the scenarios, by index into now, that need more seeds before Compare can
// distinguish a change from chance.
func Doubts(before *Baseline, now []Result) []int {
	var out []int
	pools := pooled(before, now)
	for i := range now {
		e := before.Entry(now[i].Scenario)
		if e == nil || now[i].Wide != nil || e.Wide == 0 || Decided(before, &now[i]) {
			continue
		}
		c := comparison{before: e, now: &now[i], tolerances: before.tolerances()}
		if c.doubtful(pools) {
			out = append(out, i)
		}
	}
	return out
}

// comparison is the comparison of one scenario.
type comparison struct {
	before       *Entry // nil: not in the baseline
	now          *Result
	tolerances   map[reports.Family]Tolerance
	sameUpstream bool
	undecided    int // violations too rare for a verdict
}

// run returns the old run of the same seed, nil if there is none.
func (c *comparison) run(seed uint64) *Run {
	if c.before == nil {
		return nil
	}
	return c.before.Run(seed)
}

// moved counts the runs with other messages.
func (c *comparison) moved() (n int) {
	for i := range c.now.Runs {
		if b := c.run(c.now.Runs[i].Seed); b != nil && !b.SameCourse(&c.now.Runs[i]) {
			n++
		}
	}
	return n
}

func (c *comparison) changes() []Change {
	if c.now.Record != nil {
		return c.replayed()
	}
	if c.before == nil {
		return []Change{{Kind: NewScenario, What: "scenario", Before: "missing", After: "present",
			Sentence: "The scenario is not in the baseline. ipamsim gate --update adds it."}}
	}
	var out []Change
	for _, inv := range c.invariants() {
		if ch := c.violation(inv); ch != nil {
			out = append(out, *ch)
		}
	}
	if ch := c.cut(); ch != nil {
		out = append(out, *ch)
	}
	out = append(out, c.costs()...)
	c.fixes(out)
	return out
}

// invariants returns the invariants violated before or now, sorted.
func (c *comparison) invariants() []string {
	set := map[string]bool{}
	for _, runs := range [][]Run{c.before.Runs, c.now.Runs, c.now.Wide} {
		for i := range runs {
			for _, inv := range runs[i].Violated {
				set[inv] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// doubtful reports whether a run with other messages differs by more than a change of all of its
// manager's scenarios, which is not chance.
func (c *comparison) doubtful(pools *poolings) bool {
	for i := range c.now.Runs {
		r := &c.now.Runs[i]
		b := c.run(r.Seed)
		if b != nil && !b.SameCourse(r) && !slices.Equal(b.Violated, r.Violated) {
			return true
		}
	}
	return c.moved() > 0 && slices.ContainsFunc(c.strange(), func(s strangeness) bool { return !pools.moved(c.now.Manager, s.measure, s.more) })
}

// violation compares the frequency of one invariant's violations; nil if unchanged.
func (c *comparison) violation(inv string) *Change {
	var gained, lost, same *Run // the first of each; same: gained or lost in the same course
	for i := range c.now.Runs {
		r := &c.now.Runs[i]
		b := c.run(r.Seed)
		if b == nil || b.Violates(inv) == r.Violates(inv) {
			continue
		}
		if b.SameCourse(r) && same == nil && (c.sameUpstream || inv != invariant.ActorCrash.Name) {
			same = r
		}
		if r.Violates(inv) && gained == nil {
			gained = r
		} else if !r.Violates(inv) && lost == nil {
			lost = r
		}
	}
	runs := c.now.Runs
	if c.now.Wide != nil {
		runs = c.now.Wide
	}
	k, n := hits(runs, inv), len(runs)
	h, others := c.rate(inv)
	counts := func(ch Change) *Change {
		ch.What, ch.Before, ch.After = inv, fmt.Sprintf("%d of %d runs", h, others), fmt.Sprintf("%d of %d runs", k, n)
		return c.point(&ch, runs)
	}
	switch {
	case same != nil && same.Violates(inv):
		h, others, k, n = hits(c.before.Runs, inv), len(c.before.Runs), hits(c.now.Runs, inv), len(c.now.Runs)
		return counts(Change{Kind: NewViolation, Regression: true,
			Sentence: fmt.Sprintf("%s is violated with the same messages as before (seed %d): the invariant or the facts changed.", inv, same.Seed)})
	case same != nil:
		h, others, k, n = hits(c.before.Runs, inv), len(c.before.Runs), hits(c.now.Runs, inv), len(c.now.Runs)
		return counts(Change{Kind: VanishedViolation, Regression: true,
			Sentence: fmt.Sprintf("%s is no longer violated with the same messages as before (seed %d): ipamsim detects less.", inv, same.Seed)})
	case gained == nil && lost == nil && (c.now.Wide == nil || h > 0 && k > 0):
		return nil
	case k > 0 && h == 0 && !slices.Contains(c.now.Known, inv):
		if maybe(inv, k, n) {
			return counts(Change{Kind: NewViolation, Sentence: fmt.Sprintf("%s was never violated before and is violated in %d of %d runs now: this may be chance.", inv, k, n)})
		}
		return counts(Change{Kind: NewViolation, Regression: true, Sentence: fmt.Sprintf("%s is violated and never was before.", inv)})
	case k > 0 && More(k, n, max(h, 1), others) < surely:
		return counts(Change{Kind: NewViolation, Regression: true, Sentence: fmt.Sprintf("%s is violated significantly more often than before.", inv)})
	case k == 0 && h > 0 && none(n, h, others) >= gone:
		c.undecided++
		return nil
	case k == 0 && h > 0 && c.sameUpstream:
		return counts(Change{Kind: VanishedViolation, Regression: true, Sentence: fmt.Sprintf("%s is no longer violated with the same upstream: ipamsim detects less.", inv)})
	case k == 0 && h > 0:
		return counts(Change{Kind: FixedViolation, Sentence: fmt.Sprintf("%s is no longer violated.", inv)})
	}
	return nil
}

// rate returns how often an invariant was violated before.
func (c *comparison) rate(inv string) (h, n int) {
	if c.before.Wide > 0 {
		return c.before.Rates[inv], c.before.Wide
	}
	return hits(c.before.Runs, inv), len(c.before.Runs)
}

func hits(runs []Run, inv string) (n int) {
	for i := range runs {
		if runs[i].Violates(inv) {
			n++
		}
	}
	return n
}

// point sets a change's step, seed and command to those of the first run that shows it.
func (c *comparison) point(ch *Change, runs []Run) *Change {
	seed := runs[0].Seed
	for i := range runs {
		if runs[i].Violates(ch.What) {
			seed = runs[i].Seed
			if s, ok := runs[i].Seen[ch.What]; ok {
				ch.Severity, ch.Step, ch.Timeline = model.Severity(s.Severity), s.Step, s.Timeline
				ch.Sentence += " " + s.Message
			}
			break
		}
	}
	ch.Command, ch.Seed = c.command(seed), seed
	return ch
}

func (c *comparison) command(seed uint64) string {
	if c.now.Record != nil {
		return "ipamsim replay " + reports.Shell(c.now.File)
	}
	return c.now.Command(seed)
}

// cut reports a run that reached a limit and did not before.
func (c *comparison) cut() *Change {
	for i := range c.now.Runs {
		r := &c.now.Runs[i]
		if b := c.run(r.Seed); b != nil && r.Cut != "" && b.Cut == "" {
			return &Change{Kind: Unfinished, Regression: true, What: "verdict", Before: "finished", After: "unknown",
				Sentence: fmt.Sprintf("With seed %d the run reaches a limit that it did not reach before (%s).", r.Seed, r.Cut), Command: c.command(r.Seed)}
		}
	}
	return nil
}

// replayed compares a finding with its own record, which is its baseline. With the recorded
// upstream the replay must complete; with another upstream the same violation suffices.
func (c *comparison) replayed() []Change {
	if len(c.now.Runs) == 0 { // there was no time
		return nil
	}
	rec, r := c.now.Record, &c.now.Runs[0]
	same := rec.Upstream == c.now.Upstream
	i := slices.IndexFunc(rec.Violated, func(inv string) bool { return !r.Violates(inv) })
	if i < 0 && (r.Cut == "" || !same) {
		return nil
	}
	ch := Change{Kind: FixedViolation, What: "run", Before: "violated", After: "not violated", Command: c.command(r.Seed)}
	if len(rec.Violated) > 0 {
		ch.What = rec.Violated[max(i, 0)]
	}
	ch.Sentence = fmt.Sprintf("%s is no longer violated; recorded with %s.", ch.What, rec.Upstream)
	if same {
		ch.Kind, ch.Regression = NotReproduced, true
		ch.Sentence = fmt.Sprintf("The replay no longer reaches %s with the same upstream.", ch.What)
		if i < 0 {
			ch.After = "violated, with other messages"
		}
	}
	switch n := r.Cost[refusedADDs].Sum; {
	case r.Cut != "" && !same: // other messages, so the record decides nothing
		ch.Kind, ch.Regression, ch.After = ChangedViolation, true, "unknown"
		ch.Sentence += " But the replay does not complete: " + r.Cut
	case r.Cut != "":
		ch.Sentence += " " + r.Cut
	case !same && n > 0:
		ch.Kind, ch.Regression = ChangedViolation, true
		ch.Sentence += fmt.Sprintf(" But %.0f ADDs are refused.", n)
	}
	return []Change{ch}
}

// gravity orders kinds, the most severe first.
var gravity = []Kind{NewViolation, Nondeterminism, CannotRun, LeftOut, Unfinished, VanishedViolation, ChangedViolation, NotReproduced, MissingScenario, CostMoved, FixedViolation, NewScenario}

func sortChanges(all []Change) {
	rank := func(c Change) int {
		n := 100 * slices.Index(gravity, c.Kind)
		if !c.Regression {
			n += 10_000
		}
		return n + 10*c.Severity.Rank()
	}
	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.What, b.What)) })
}

// versionsOf returns the versions of each manager, before and now.
func versionsOf(before *Baseline, now []Result) []Version {
	is := map[string]string{}
	for i := range now {
		is[now[i].Manager] = now[i].Upstream
	}
	var out []Version
	for _, m := range slices.Sorted(maps.Keys(is)) {
		out = append(out, Version{m, cmp.Or(before.Upstream[m], "-"), is[m]})
	}
	return out
}
