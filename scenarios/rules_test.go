package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports"
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

// harm is what a run violated: which invariant, and of what.
func harm(rep *reports.Report) []string {
	var out []string
	for _, v := range rep.Violations {
		out = append(out, v.Invariant+" "+strings.Join(v.Objects, " "))
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
			o := scenarios.Options{Seed: &seed}
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

// TestReferenceIsNamed: nobody takes a run of our own code for upstream's.
func TestReferenceIsNamed(t *testing.T) {
	r := runner(t)
	for _, name := range whereabouts.References() {
		rep := run(t, r, under(t, "r1-whereabouts-162.yaml", name), scenarios.Options{})
		said := "whereabouts@v0.9.4 with ipamsim's " + name + ", which is not upstream's code"
		j, err := reports.JSON(rep)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"upstream": rep.Upstream, "golden": strings.Join(strings.Fields(reports.Golden(rep)), " "), "JSON": strings.ReplaceAll(string(j), `\u0026`, "&")} {
			if !strings.Contains(text, said) {
				t.Errorf("%s: the %s does not say %q", name, what, said)
			}
		}
		if line := reports.Line(rep); !strings.Contains(line, " "+name+" ") {
			t.Error(line)
		}
		told := 0
		for _, s := range rep.Trace.Steps {
			if s.Choice.Op.Actor.Kind() == "ip-reconciler" {
				t.Fatalf("%s: %s", name, fmt.Sprint(s.Choice.Op))
			} else if s.Choice.Op.Actor.Kind() == name {
				told++
			}
		}
		if told == 0 {
			t.Errorf("%s did nothing", name)
		}
	}
}
