package scenarios_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/longtest"
)

// What Wikimedia met does not depend on where Calico keeps its record: on each of
// its datastores the scenarios break the same invariants, those that they expect.
// The goldens show one of them; this shows that each is under five seconds.
func TestDatastoresAgree(t *testing.T) {
	longtest.Skip(t)
	files, err := filepath.Glob("wikimedia-w[1-6]-*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, want W1 to W6: %v", len(files), err)
	}
	r := runner(t)
	for _, f := range files {
		if target, err := os.Readlink(f); err != nil || "wikimedia-"+target != f {
			t.Errorf("%s: want a link to %s", f, strings.TrimPrefix(f, "wikimedia-"))
		}
		s, first := load(t, f), uint64(1)
		want := []string{}
		if e := s.Doc.Spec.Expect; e != nil {
			want = append(want, e.Violations...)
		}
		slices.Sort(want)
		for _, ds := range s.Datastores() {
			if ds == s.Doc.Spec.Datastore && !*full {
				continue // the golden test runs it, with Kubernetes' own controllers
			}
			rep, err := r.Run(context.Background(), s, scenarios.Options{Datastore: ds, Seed: &first})
			if err != nil {
				t.Fatal(err)
			}
			if got := violated(rep); !slices.Equal(got, want) {
				t.Errorf("%s on %s: %v, want %v", f, ds, got, want)
			}
			t.Logf("%-50s %-10s %5.2f s  %v", f, ds, rep.Wall.Seconds(), violated(rep))
			if rep.Wall > 30*time.Second { // five, on a machine that does nothing else
				t.Errorf("%s on %s: %v", f, ds, rep.Wall)
			}
		}
	}
}

// violated are the names of the broken invariants, sorted.
func violated(r *reports.Report) []string {
	out := []string{}
	for _, v := range r.Violations {
		out = append(out, v.Invariant)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
