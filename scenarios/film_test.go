package scenarios_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
)

// filmed are scenarios of every address manager, one with faults and one that is
// not judged at rest.
var filmed = []string{"r1-whereabouts-162", "w2-borrowed-from-kubestage1001", "ok-mixed", "calico-12741-tombstone", "whereabouts-712-patch-500"}

// A run that is filmed is the same run, and its record comes back from a file as it
// was written.
func TestFilmOnlyLooks(t *testing.T) {
	r := runner(t)
	for _, name := range filmed {
		s := load(t, name+".yaml")
		plain, rep := run(t, r, s, scenarios.Options{}), run(t, r, s, scenarios.Options{Film: true})
		if plain.Digest != rep.Digest || plain.StoreDigest != rep.StoreDigest || !slices.Equal(plain.States, rep.States) {
			t.Errorf("%s: digests %s %s, filmed %s %s", name, plain.Digest, plain.StoreDigest, rep.Digest, rep.StoreDigest)
		}
		if d := cmp.Diff(reports.Golden(plain), reports.Golden(rep)); d != "" {
			t.Errorf("%s: -plain +filmed:\n%s", name, d)
		}
		if plain.Film != nil || rep.Film == nil || len(rep.Film.Frames) == 0 {
			t.Fatalf("%s: a film of %v and of %v", name, plain.Film, rep.Film)
		}
		var file bytes.Buffer
		if err := reports.WriteRecord(&file, rep); err != nil {
			t.Fatal(err)
		}
		size := file.Len()
		back, err := reports.ReadRecord(&file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(reports.RecordOf(rep), back, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: -record +read back:\n%s", name, d)
		}
		t.Logf("%s: %d steps, %d frames, %d addresses, %d bytes", name, len(back.Steps), len(back.Film.Frames), len(back.Addresses), size)
	}
}

// Where a run is stopped, its film shows what that of the whole run shows there.
func TestFilmOfAStoppedRun(t *testing.T) {
	r := runner(t)
	for _, name := range []string{"r1-whereabouts-162", "w2-borrowed-from-kubestage1001"} {
		s := load(t, name+".yaml")
		whole := run(t, r, s, scenarios.Options{Film: true})
		stopped := run(t, r, s, scenarios.Options{Film: true, StopAt: func(*sim.Step, *model.Violation, *model.History) bool { return true }})
		n := len(stopped.Trace.Steps)
		if n >= len(whole.Trace.Steps) {
			t.Fatalf("%s: not stopped: %d steps of %d", name, n, len(whole.Trace.Steps))
		}
		if d := cmp.Diff(whole.Film.At(n), stopped.Film.At(n)); d != "" {
			t.Errorf("%s at step %d: -whole +stopped:\n%s", name, n, d)
		}
	}
}
