package shrink_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink"
	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
)

// Shrinking is measured on drawn worlds:
//
//	go test ./fuzz/shrink -run Measure -v -space whereabouts -seeds 1-200 -each 3 -out DIR
var (
	inSpace = flag.String("space", "", "measure on this space")
	seeds   = flag.String("seeds", "1-100", "its worlds")
	each    = flag.Int("each", 3, "shrink so many instances of one signature")
	out     = flag.String("out", "", "write the findings here")
)

func TestMeasure(t *testing.T) {
	if *inSpace == "" {
		t.Skip("no -space: nothing to measure on")
	}
	var from, to uint64
	if _, err := fmt.Sscanf(*seeds, "%d-%d", &from, &to); err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := map[finding.Signature]int{}
	var all []*finding.Finding
	for seed := from; seed <= to; seed++ {
		s, err := space.Draw(*inSpace, seed)
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
			if broken[v.Invariant] {
				continue
			}
			if broken[v.Invariant] = true; seen[sig] >= *each {
				continue
			}
			seen[sig]++
			f, err := shrink.Shrink(context.Background(), r, s, rep, v, shrink.Options{})
			if err != nil {
				t.Errorf("seed %d %s: %v", seed, v.Invariant, err)
				continue
			}
			all = append(all, f)
			t.Logf("seed %d %s %s: %d pods %d nodes %d switches %d faults %d steps (of %d), %d runs %.1f s, %d of %d\n%s\n%s",
				seed, f.Fingerprint, f.Invariant, f.Pods, f.Nodes, f.Switches, f.Faults, f.Steps, v.Step, f.ShrinkRuns, f.ShrinkSeconds, f.Failing, f.Sampled, f.Cause.Key(), f.Sentence)
			if *out != "" {
				_ = os.WriteFile(filepath.Join(*out, fmt.Sprintf("%s-%d.yaml", f.Fingerprint, seed)), f.YAML, 0o644)
			}
		}
	}
	prints := map[string]int{}
	for _, f := range all {
		prints[f.Fingerprint]++
	}
	q := func(of func(*finding.Finding) float64) string {
		var x []float64
		for _, f := range all {
			x = append(x, of(f))
		}
		slices.Sort(x)
		return fmt.Sprintf("%g (90 %%: %g)", x[len(x)/2], x[len(x)*9/10])
	}
	if len(all) == 0 {
		return
	}
	t.Logf("%d findings of %d signatures, %d fingerprints; medians: %s pods, %s switches, %s faults, %s steps, %s runs, %s s", len(all), len(seen), len(prints),
		q(func(f *finding.Finding) float64 { return float64(f.Pods) }), q(func(f *finding.Finding) float64 { return float64(f.Switches) }),
		q(func(f *finding.Finding) float64 { return float64(f.Faults) }), q(func(f *finding.Finding) float64 { return float64(f.Steps) }),
		q(func(f *finding.Finding) float64 { return float64(f.ShrinkRuns) }), q(func(f *finding.Finding) float64 { return f.ShrinkSeconds }))
}
