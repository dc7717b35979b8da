package fuzz_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/bench"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
)

// Shrinking is measured on generated scenarios, or on findings that are shrunk again:
//
//	go test ./fuzz -run ShrinkMeasure -v -shrink-space whereabouts -shrink-seeds 1-200 -shrink-each 3 -shrink-out DIR
//	go test ./fuzz -run ShrinkMeasure -v -args findings/calico/a9f5e20c0cdc.yaml
var (
	shrinkSpace = flag.String("shrink-space", "", "measure on this space")
	shrinkSeeds = flag.String("shrink-seeds", "1-100", "its worlds")
	shrinkEach  = flag.Int("shrink-each", 3, "shrink so many instances of one signature")
	shrinkBound = flag.Duration("shrink-bound", 0, "for each; 0: as usual. On a busy machine the usual time is over sooner")
	shrinkMore  = flag.Int("shrink-more", 1, "how often that while a schedule is crowded")
	shrinkOnly  = flag.String("shrink-only", "", "violations of this invariant; all if empty")
	shrinkOut   = flag.String("shrink-out", "", "write the findings here")
)

func TestShrinkMeasure(t *testing.T) {
	if *shrinkSpace == "" && flag.NArg() == 0 {
		t.Skip("no -shrink-space and no files: nothing to measure on")
	}
	var from, to uint64
	if _, err := fmt.Sscanf(*shrinkSeeds, "%d-%d", &from, &to); err != nil {
		t.Fatal(err)
	}
	r := scenariotest.Runner(t)
	seen := map[finding.Signature]int{}
	var all []*finding.Finding
	var times []float64 // processor time, for each
	measure := func(s *scenarios.Scenario, rep *reports.Report, v *model.Violation) {
		before := bench.CPU()
		f, err := shrink.Shrink(context.Background(), r, s, rep, v, shrink.Options{Time: *shrinkBound, More: *shrinkMore})
		busy := (bench.CPU() - before).Seconds()
		if err != nil {
			t.Errorf("%s seed %d %s: %v", s.Name(), rep.Seed, v.Invariant, err)
			return
		}
		all, times = append(all, f), append(times, busy)
		t.Logf("%s seed %d %s %s: %d pods %d nodes %d switches %d faults %d steps (of %d), %d runs %.1f s, of the processor %.1f s, %d of %d\n%s\n%s",
			s.Name(), rep.Seed, f.Fingerprint, f.Invariant, f.Pods, f.Nodes, f.Switches, f.Faults, f.Steps, v.Step, f.ShrinkRuns, f.ShrinkSeconds, busy, f.Failing, f.Sampled, f.Cause.Key(), f.Sentence)
		if *shrinkOut != "" {
			_ = os.WriteFile(filepath.Join(*shrinkOut, fmt.Sprintf("%s-%d.yaml", f.Fingerprint, rep.Seed)), f.YAML, 0o644)
		}
	}
	for _, file := range flag.Args() {
		s, err := managers.All().Load(file)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Run(context.Background(), s, scenarios.Options{Recorded: true})
		if err != nil || len(rep.Violations) == 0 {
			t.Errorf("%s: nothing breaks: %v", file, err)
			continue
		}
		v := &rep.Violations[len(rep.Violations)-1]
		seen[finding.SignatureOf(rep, v)]++
		measure(s, rep, v)
	}
	if *shrinkSpace == "" {
		shrinkSums(t, all, times, len(seen))
		return
	}
	for seed := from; seed <= to; seed++ {
		s, err := space.Draw(managers.All(), *shrinkSpace, seed)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Run(context.Background(), s, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		broken := map[string]bool{}
		for i := range rep.Violations {
			v := &rep.Violations[i]
			sig := finding.SignatureOf(rep, v)
			if broken[v.Invariant] || *shrinkOnly != "" && v.Invariant != *shrinkOnly {
				continue
			}
			if broken[v.Invariant] = true; seen[sig] >= *shrinkEach {
				continue
			}
			seen[sig]++
			measure(s, rep, v)
		}
	}
	shrinkSums(t, all, times, len(seen))
}

// shrinkSums prints the sums.
func shrinkSums(t *testing.T, all []*finding.Finding, times []float64, signatures int) {
	if len(all) == 0 {
		return
	}
	prints := map[string]int{}
	for _, f := range all {
		prints[f.Fingerprint]++
	}
	quantiles := func(x []float64) string {
		slices.Sort(x)
		return fmt.Sprintf("%.3g (90 %%: %.3g)", x[len(x)/2], x[len(x)*9/10])
	}
	q := func(of func(*finding.Finding) float64) string {
		var x []float64
		for _, f := range all {
			x = append(x, of(f))
		}
		return quantiles(x)
	}
	many := 0
	for _, f := range all {
		if f.Switches > finding.SwitchesMax {
			many++
		}
	}
	t.Logf("%d of %d findings need at most %d switches; median time of the processor %s s", len(all)-many, len(all), finding.SwitchesMax, quantiles(times))
	t.Logf("%d findings of %d signatures, %d fingerprints; medians: %s pods, %s switches, %s faults, %s steps, %s runs, %s s", len(all), signatures, len(prints),
		q(func(f *finding.Finding) float64 { return float64(f.Pods) }), q(func(f *finding.Finding) float64 { return float64(f.Switches) }),
		q(func(f *finding.Finding) float64 { return float64(f.Faults) }), q(func(f *finding.Finding) float64 { return float64(f.Steps) }),
		q(func(f *finding.Finding) float64 { return float64(f.ShrinkRuns) }), q(func(f *finding.Finding) float64 { return f.ShrinkSeconds }))
}
