package fuzz_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
)

var (
	faultFree = flag.String("fault-free", "", "run worlds of this space in which nothing disturbs the cluster")
	seedsFree = flag.String("fault-free-seeds", "1-2000", "the worlds")
	whoseFree = flag.String("fault-free-controllers", "real", "real or simple")
	dualFree  = flag.Bool("fault-free-dual-stack", false, "only worlds in which pods get addresses of both families")
	timeFree  = flag.Duration("fault-free-time", 12*time.Hour, "begin no more after this time")
)

// TestFaultFree: without edits by operators, forced deletions, lost messages and failing machines,
// a manager has no excuses. Violations are then known bugs of upstream, or false alarms.
func TestFaultFree(t *testing.T) {
	if *faultFree == "" {
		t.Skip("SKIPPED: an hour; -fault-free SPACE")
	}
	var from, to uint64
	if _, err := fmt.Sscanf(*seedsFree, "%d-%d", &from, &to); err != nil {
		t.Fatalf("-fault-free-seeds %q: want A-B", *seedsFree)
	}
	k, err := known.Load(knownDir, input.ListsFor(managers.All(), *faultFree)...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	runs, steps, foreign, verdicts, lines := 0, 0, uint64(0), map[string]int{}, map[string]int{}
	for seed, began := from, time.Now(); seed <= to && time.Since(began) < *timeFree; seed++ {
		s, err := space.Draw(managers.All(), *faultFree, seed, space.Classes()...)
		if err == nil {
			s, err = s.WithControllers(*whoseFree)
		}
		if err != nil {
			t.Fatal(err)
		}
		if *dualFree && !bothFamilies(s) {
			continue
		}
		s.Doc.Spec.Limits.Steps = 1000 + 4*s.Doc.Spec.Limits.Steps // Kubernetes' own controllers send more
		rep, err := r.Run(t.Context(), s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		runs, steps, foreign = runs+1, steps+len(rep.Trace.Steps), foreign+rep.Foreign
		verdicts[fmt.Sprint(rep.Verdict, " ", rep.Reason)]++
		seen := map[string]bool{}
		for i := range rep.Violations {
			v := &rep.Violations[i]
			why := cause.Of(rep, v)
			line := "known " + why.Signature()
			if k.Find(why) == "" {
				line = "NEW " + why.Signature()
				t.Errorf("world %d, %s, step %d of %d, violation %d: %s: %s", seed, rep.Strategy, v.Step, len(rep.Trace.Steps), i+1, why.Signature(), v.Message)
			}
			if !seen[line] {
				seen[line] = true
				lines[line]++
			}
		}
		if runs%100 == 0 {
			fmt.Printf("%d runs, %d steps, %d wake-ups from outside, %v\n", runs, steps, foreign, verdicts)
		}
	}
	t.Logf("%d runs, %d steps, %d wake-ups from outside, %v", runs, steps, foreign, verdicts)
	for _, l := range slices.Sorted(maps.Keys(lines)) {
		t.Logf("%5d runs: %s", lines[l], l)
	}
}

// bothFamilies reports whether a network of the scenario assigns a pod addresses of both IPv4 and IPv6.
func bothFamilies(s *scenarios.Scenario) bool {
	for _, n := range s.Policies() {
		if b := n.Blocks; b != nil {
			if b.V4 && b.V6 && b.DualStack() {
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
