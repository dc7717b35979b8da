package scenarios_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/reports/record"
	"ipamsim/scenarios"
	"ipamsim/sim/longtest"
)

// filmed are scenarios of every address manager: duplicates, blackholes, leaks, one
// with faults and one that is not judged at rest.
var filmed = []string{
	"r1-whereabouts-162", "w2-borrowed-from-kubestage1001", "t1-tkg-range-exhausted", "ok-mixed", "calico-12741-tombstone", "whereabouts-712-patch-500",
}

// A recorded run is the same run; its record survives a file unchanged; and the histories of its
// addresses agree with the invariants.
func TestFilm(t *testing.T) {
	r := runner(t)
	for _, name := range filmed {
		t.Run(name, func(t *testing.T) {
			if long(name + ".yaml") {
				longtest.Skip(t)
			}
			s := load(t, name+".yaml")
			plain, rep := run(t, r, s, scenarios.Options{}), run(t, r, s, scenarios.Options{Recording: true})
			if plain.Digest != rep.Digest || plain.StoreDigest != rep.StoreDigest || !slices.Equal(plain.States, rep.States) {
				t.Errorf("digests %s %s, filmed %s %s", plain.Digest, plain.StoreDigest, rep.Digest, rep.StoreDigest)
			}
			if d := cmp.Diff(formats.Golden(plain), formats.Golden(rep)); d != "" {
				t.Errorf("-plain +filmed:\n%s", d)
			}
			if plain.Recording != nil || rep.Recording == nil || len(rep.Recording.Frames) == 0 {
				t.Fatalf("a film of %v and of %v", plain.Recording, rep.Recording)
			}
			var file bytes.Buffer
			if err := record.Write(&file, rep); err != nil {
				t.Fatal(err)
			}
			rec, err := record.Read(bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := json.Marshal(rec); err != nil || !bytes.Equal(again, bytes.TrimSpace(file.Bytes())) {
				t.Errorf("written again the record is another: %v", err)
			}
			agree(t, rec)
			t.Logf("%d steps, %d frames, %d addresses, %d bytes", len(rec.Steps), len(rec.Recording.Frames), len(rec.Addresses), file.Len())
		})
	}
}

// agree checks that a violation at a step is a band in the history of the address, and that every band
// of those kinds has a violation. A claim may leak for a while before that is a violation.
func agree(t *testing.T, rec *record.Record) {
	t.Helper()
	kinds := map[string]record.SpanKind{
		"duplicate-address": record.Duplicate, "unbacked-sandbox": record.Unbacked, "blackholed-address": record.Blackholed, "leaked-claim": record.Leaked,
	}
	fine := map[record.SpanKind]bool{record.Live: true, record.Claimed: true, record.Leaked: true}
	for _, v := range rec.Violations {
		kind, ok := kinds[v.Invariant]
		if !ok {
			continue
		}
		fine[kind] = true
		if !slices.ContainsFunc(rec.Addresses, func(h record.Held) bool {
			return slices.Contains(v.Objects, model.Ref{Kind: model.RefAddress, Name: h.Addr}) && slices.ContainsFunc(h.Spans, func(s record.Span) bool {
				return s.Kind == kind && s.From <= v.Step && (s.To == 0 || s.To > v.Step)
			})
		}) {
			t.Errorf("no band for %s at step %d: %s", v.Invariant, v.Step, v.Message)
		}
	}
	for _, h := range rec.Addresses {
		for _, s := range h.Spans {
			if !fine[s.Kind] {
				t.Errorf("%s is %s from step %d on, and no violation says so", h.Addr, s.Kind, s.From)
			}
		}
	}
}

// Where a run is stopped, its film shows what that of the whole run shows there.
func TestFilmOfAStoppedRun(t *testing.T) {
	r, s := runner(t), load(t, "r1-whereabouts-162.yaml")
	whole := run(t, r, s, scenarios.Options{Recording: true})
	stopped := run(t, r, s, scenarios.Options{Recording: true, StopAt: func(*reports.Report, *model.Violation) bool { return true }})
	n := len(stopped.Trace.Steps)
	if n >= len(whole.Trace.Steps) {
		t.Fatalf("not stopped: %d steps of %d", n, len(whole.Trace.Steps))
	}
	if d := cmp.Diff(whole.Recording.At(n), stopped.Recording.At(n)); d != "" {
		t.Errorf("at step %d: -whole +stopped:\n%s", n, d)
	}
}
