package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam/whereabouts"
)

// under is a scenario with another reconciler in place of upstream's.
func under(t testing.TB, file, reconciler string) *scenarios.Scenario {
	t.Helper()
	s := load(t, file)
	for i := range s.Doc.Spec.Reconcilers {
		s.Doc.Spec.Reconcilers[i].Name = reconciler
	}
	return s
}

// TestRulesSideBySide counts what breaks under which rule: 10 seeds of each r3-*, 100
// with -full. They differ in nothing else.
func TestRulesSideBySide(t *testing.T) {
	seeds := uint64(10)
	if *full {
		seeds = 100
	}
	r, sum := runner(t), reports.Summary{}
	broke := map[string]map[string]int{} // by scenario, by invariant: in how many runs
	for seed := uint64(1); seed <= seeds; seed++ {
		did := map[string]string{}
		for _, name := range []string{"ip-reconciler", "address-in-status", "skip-pending", "pod-exists", "pods-first"} {
			rep := run(t, r, load(t, "r3-"+name+".yaml"), scenarios.Options{Seed: &seed, Store: scenarios.Memory})
			sum.Add(rep)
			did[name] = strings.Join(harm(rep), "\n")
			for _, v := range violated(rep) {
				if broke[name] == nil {
					broke[name] = map[string]int{}
				}
				broke[name][v]++
			}
		}
		if did["ip-reconciler"] != did["address-in-status"] {
			t.Errorf("seed %d: the real reconciler breaks\n%s\nours\n%s", seed, did["ip-reconciler"], did["address-in-status"])
		}
	}
	t.Logf("\n%s", sum.SideBySide())
	all := int(seeds)
	for _, c := range []struct {
		rule, invariant string
		least, most     int
	}{
		{"address-in-status", "duplicate-address", all / 5, all},
		{"address-in-status", "leaked-claim", 0, 0},
		{"skip-pending", "duplicate-address", 0, 0},
		{"skip-pending", "unbacked-sandbox", 0, 0},
		{"skip-pending", "leaked-claim", all, all}, // of the pod that waits; gone in the end:
		{"skip-pending", "convergence", 0, 0},
		{"pod-exists", "duplicate-address", 0, 0},
		{"pod-exists", "unbacked-sandbox", 0, 0},
		{"pod-exists", "leaked-claim", all, all},
		{"pod-exists", "convergence", all, all},
		{"pods-first", "duplicate-address", broke["address-in-status"]["duplicate-address"], all},
		{"pods-first", "leaked-claim", 0, 0},
	} {
		if n := broke[c.rule][c.invariant]; n < c.least || n > c.most {
			t.Errorf("%s: %s in %d of %d runs, want %d to %d", c.rule, c.invariant, n, all, c.least, c.most)
		}
	}
}

// TestOrderOfLists: under the schedule of this scenario no claim of a living
// pod is freed if the pools are read first.
func TestOrderOfLists(t *testing.T) {
	r := runner(t)
	for name, want := range map[string]bool{"reference-pods-first": true, "reference-address-in-status": false, "ip-reconciler": false} {
		rep := run(t, r, under(t, "whereabouts-162-pods-listed-first.yaml", name), scenarios.Options{Store: scenarios.Memory})
		if got := slices.Contains(violated(rep), "unbacked-sandbox"); got != want {
			t.Errorf("%s: %v", name, violated(rep))
		}
	}
}

// harm is what a run violated: which invariant, and of what.
func harm(rep *reports.Report) []string {
	var out []string
	for _, v := range rep.Violations {
		out = append(out, fmt.Sprint(v.Invariant, " ", v.Objects))
	}
	slices.Sort(out)
	return out
}

// TestReferenceBreaksWhatUpstreamBreaks: with the rule of 0.9.4 our reconciler gives
// the same violations as the real one, in both scenarios that are about the rule.
func TestReferenceBreaksWhatUpstreamBreaks(t *testing.T) {
	r, failed := runner(t), 0
	for _, file := range []string{"r1-whereabouts-162.yaml", "r2-old-address-stays.yaml"} {
		for seed := uint64(1); seed <= 10; seed++ {
			o := scenarios.Options{Seed: &seed, Store: scenarios.Memory}
			want := run(t, r, load(t, file), o)
			got := run(t, r, under(t, file, "reference-address-in-status"), o)
			if !slices.Equal(harm(want), harm(got)) {
				t.Errorf("%s seed %d: upstream breaks %v, the reference %v", file, seed, harm(want), harm(got))
			}
			failed += min(len(harm(want)), 1)
		}
	}
	if failed < 3 {
		t.Errorf("only %d runs broke anything, so this says little", failed)
	}
}

// TestReferenceIsNamed checks that a run of our own code is not mistaken for upstream's.
func TestReferenceIsNamed(t *testing.T) {
	r := runner(t)
	for _, name := range references() {
		rep := run(t, r, under(t, "r1-whereabouts-162.yaml", name), scenarios.Options{})
		said := "whereabouts@v0.9.4 with ipamsim's " + name + ", which is not upstream's code"
		j, err := formats.JSON(rep)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"upstream": rep.Upstream, "golden": strings.Join(strings.Fields(formats.Golden(rep)), " "), "JSON": strings.ReplaceAll(string(j), `\u0026`, "&")} {
			if !strings.Contains(text, said) {
				t.Errorf("%s: the %s does not say %q", name, what, said)
			}
		}
		if line := reports.Line(rep); !strings.Contains(line, " "+name+" ") {
			t.Error(line)
		}
		reported := 0
		for _, s := range rep.Trace.Steps {
			if s.Choice.Op.Actor.Kind() == "ip-reconciler" {
				t.Fatalf("%s: %s", name, fmt.Sprint(s.Choice.Op))
			} else if s.Choice.Op.Actor.Kind() == name {
				reported++
			}
		}
		if reported == 0 {
			t.Errorf("%s did nothing", name)
		}
	}
}

// references are the names of the ip-reconcilers that are not upstream's.
func references() (out []string) {
	for _, p := range whereabouts.New().Processes {
		if p.Reference {
			out = append(out, p.Name)
		}
	}
	return out
}
