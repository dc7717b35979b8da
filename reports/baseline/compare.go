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

// Compare says what is different from the baseline, and what of it is worse.
//
// A run that takes the same course as before (the same messages in the same order,
// the same left behind) is compared as it is. In one that takes another course,
// because upstream or we changed, every later latency is another: what it violates
// and costs is compared with what chance does, which the baseline knows from many
// seeds, on as many seeds now. Of a violation
//
//   - that never was seen before it is told if it is seen at all, and is red if it is
//     seen in more than a few runs;
//   - that was: red if it is more frequent than chance explains;
//   - that is not seen any more, though chance would have shown it: vanished, and red,
//     if upstream is the same: then we see less. If upstream is another one: fixed, and
//     green, if nothing else is different; else changed, which is for somebody to look
//     at, and red (see mends).
//
// Where the same course is judged otherwise, we changed: new and vanished are red. But
// that a process crashes is no message: where upstream is another one, it crashes, or
// does not any more, between messages that stay the same.
//
// A cost is red if it is higher by more than its tolerance: of one scenario, or of all
// of a manager's together, where less is noticed. A lower one is told. Scenarios that violate something else than
// before under one of their seeds are another story, and not among all. A scenario
// that the baseline does not know is told; one that is not there any more is red, if
// all is true: now is meant to be all there is.
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
				Kind: MissingScenario, Regression: true, What: "scenario", Before: "there", After: "not there",
				Sentence: "The baseline knows this scenario, and no file has it; ipamsim gate --update if that is meant.",
			}}})
		}
	}
	o.Rows = append(pools.rows(), o.Rows...)
	return o
}

// Doubts are the scenarios, by index into now, of which more seeds must be run before
// Compare can tell a change from chance.
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

// comparison of one scenario.
type comparison struct {
	before       *Entry // nil: the baseline does not know it
	now          *Result
	tolerances   map[reports.Family]Tolerance
	sameUpstream bool
	undecided    int // violations of which too little is known
}

// run before of the same seed, nil if there is none.
func (c *comparison) run(seed uint64) *Run {
	if c.before == nil {
		return nil
	}
	return c.before.Run(seed)
}

// moved is how many runs took another course.
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
		return []Change{{Kind: NewScenario, What: "scenario", Before: "not there", After: "there",
			Sentence: "The baseline does not know this scenario; ipamsim gate --update takes it in."}}
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
	c.mends(out)
	return out
}

// invariants that were or are violated, sorted.
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

// doubtful: something is different in a run that took another course, and more than
// what moved with all of its manager's scenarios, which no chance does.
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

// violation compares how often one invariant is violated; nil: as before.
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
			Sentence: fmt.Sprintf("The same messages as before, and %s is violated now (seed %d): what is judged changed.", inv, same.Seed)})
	case same != nil:
		h, others, k, n = hits(c.before.Runs, inv), len(c.before.Runs), hits(c.now.Runs, inv), len(c.now.Runs)
		return counts(Change{Kind: VanishedViolation, Regression: true,
			Sentence: fmt.Sprintf("The same messages as before, and %s is not violated any more (seed %d): we see less.", inv, same.Seed)})
	case gained == nil && lost == nil && (c.now.Wide == nil || h > 0 && k > 0):
		return nil
	case k > 0 && h == 0 && !slices.Contains(c.now.Known, inv):
		if maybe(inv, k, n) {
			return counts(Change{Kind: NewViolation, Sentence: fmt.Sprintf("%s was never violated before, and is in %d of %d runs now: that may be chance.", inv, k, n)})
		}
		return counts(Change{Kind: NewViolation, Regression: true, Sentence: fmt.Sprintf("%s is violated, which it never was before.", inv)})
	case k > 0 && More(k, n, max(h, 1), others) < surely:
		return counts(Change{Kind: NewViolation, Regression: true, Sentence: fmt.Sprintf("%s is violated more often than before, and chance does not explain it.", inv)})
	case k == 0 && h > 0 && none(n, h, others) >= gone:
		c.undecided++
		return nil
	case k == 0 && h > 0 && c.sameUpstream:
		return counts(Change{Kind: VanishedViolation, Regression: true, Sentence: fmt.Sprintf("%s is not violated any more, though upstream is the same: we see less.", inv)})
	case k == 0 && h > 0:
		return counts(Change{Kind: FixedViolation, Sentence: fmt.Sprintf("%s is not violated any more.", inv)})
	}
	return nil
}

// rate is how often an invariant was violated before.
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

// point a change at the first run that shows it.
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

// cut: a limit cut a run short that ended before.
func (c *comparison) cut() *Change {
	for i := range c.now.Runs {
		r := &c.now.Runs[i]
		if b := c.run(r.Seed); b != nil && r.Cut != "" && b.Cut == "" {
			return &Change{Kind: Unfinished, Regression: true, What: "verdict", Before: "it ended", After: "unknown",
				Sentence: fmt.Sprintf("With seed %d a limit is reached (%s), which was not before.", r.Seed, r.Cut), Command: c.command(r.Seed)}
		}
	}
	return nil
}

// replayed compares a finding with its own record: it is its own baseline. With the
// upstream it was recorded with it must be followed to its end; with another one it is
// enough that it breaks the same.
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
	ch.Sentence = fmt.Sprintf("%s is not violated any more; recorded with %s.", ch.What, rec.Upstream)
	if same {
		ch.Kind, ch.Regression = NotReproduced, true
		ch.Sentence = fmt.Sprintf("The recorded run can no longer be followed to %s, though upstream is the same.", ch.What)
		if i < 0 {
			ch.After = "violated, on another course"
		}
	}
	switch n := r.Cost[refusedADDs].Sum; {
	case r.Cut != "" && !same: // another course, of which it says nothing
		ch.Kind, ch.Regression, ch.After = ChangedViolation, true, "unknown"
		ch.Sentence += " But it cannot be followed to its end: " + r.Cut
	case r.Cut != "":
		ch.Sentence += " " + r.Cut
	case !same && n > 0:
		ch.Kind, ch.Regression = ChangedViolation, true
		ch.Sentence += fmt.Sprintf(" But of its ADDs some are refused: %.0f.", n)
	}
	return []Change{ch}
}

// gravity orders kinds, the gravest first.
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

// versionsOf each manager, before and now.
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
