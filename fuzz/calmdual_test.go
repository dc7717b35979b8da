package fuzz_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

var (
	calmWorlds = flag.Uint64("calm", 0, "so many worlds of both address families without any deed, of each space")
	calmFirst  = flag.Uint64("calm-first", 1, "the first of their seeds")
	calmSpace  = flag.String("calm-space", "", "of this space alone")
	calmTime   = flag.Duration("calm-time", time.Hour, "and no more begin after this time")
)

// Where pods get addresses of both families, nobody edits anything and every message
// arrives, no invariant breaks but by a cause that is known, whose row in
// reports/CAUSES.md says whose mistake it is. What breaks besides is a false alarm, or
// news: read it.
func TestCalmDualStack(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	if *calmWorlds == 0 {
		t.Skip("SKIPPED: a search, to be read; run it with -calm 5000")
	}
	k, err := known.Load(knownDir, input.Lists(managers.All(), "")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"calico", "whereabouts"} {
		if *calmSpace != "" && *calmSpace != name {
			continue
		}
		t.Run(name, func(t *testing.T) { calmDual(t, name, k) })
	}
}

// calmDual runs the worlds of a space.
func calmDual(t *testing.T, name string, k known.Causes) {
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	began, seed, runs, cut, steps := time.Now(), *calmFirst, uint64(0), 0, 0
	seen := map[string]int{}
	for ; runs < *calmWorlds && time.Since(began) < *calmTime; seed++ {
		s, err := space.Draw(managers.All(), name, seed, space.Deeds()...)
		if err != nil {
			t.Fatal(err)
		}
		if !bothFamilies(s) {
			continue
		}
		rep, err := r.Run(t.Context(), s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Errorf("%s %d: %v", name, seed, err)
			continue
		}
		runs++
		steps += len(rep.Trace.Steps)
		if rep.Verdict == reports.Unknown {
			cut++
		}
		for i := range rep.Violations {
			c := cause.Of(rep, &rep.Violations[i])
			if seen[c.Look()]++; k.Look(c) == "" && seen[c.Look()] == 1 {
				t.Errorf("%s %d: of no known cause: %s: %s\n%s", name, seed, rep.Violations[i].Invariant, rep.Violations[i].Message, known.Key(c))
			}
		}
	}
	t.Logf("%s: %d worlds of seeds %d to %d, %d steps, %d cut short, %s; causes %v", name, runs, *calmFirst, seed-1, steps, cut, time.Since(began).Round(time.Second), seen)
}

// bothFamilies reports whether a network of the scenario gives a pod addresses of IPv4 and
// of IPv6.
func bothFamilies(s *scenarios.Scenario) bool {
	for _, n := range s.Policies() {
		if b := n.Blocks; b != nil {
			of := func(v4 bool) bool {
				return slices.ContainsFunc(b.Pools, func(p model.IPPool) bool { return p.Prefix.Addr().Is4() == v4 })
			}
			if b.V4 && b.V6 && of(true) && of(false) {
				return true
			}
			continue
		}
		four, six := false, false
		for _, g := range n.Ranges {
			four, six = four || g.Prefix.Addr().Is4(), six || g.Prefix.Addr().Is6()
		}
		if four && six {
			return true
		}
	}
	return false
}
