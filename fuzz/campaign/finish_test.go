package campaign

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/fuzz/space"
)

// TestTimeIsUp: though the queue is full of failures, the campaign ends when its time
// is up. Each kind of failure has a file and a page, as recorded if nobody made it
// small; the same command goes on with those.
func TestTimeIsUp(t *testing.T) {
	const least, late = 12 * time.Second, 10 * time.Second
	dir := t.TempDir()
	cfg := Config{Spec: Spec{First: 1, Sources: []Source{{Space: "calico"}}}, Time: least, Dir: dir}
	began := time.Now()
	o, _, err := search(t, cfg)
	took := time.Since(began)
	if err != nil || o.Why != "time is up" || o.Blind() || took > least+late {
		t.Fatalf("%v: it took %v of %v and ended: %q", err, took, least, o.Why)
	}
	if o.Unkept > 0 || o.Open == 0 {
		t.Errorf("%d kinds of failures are lost, want 0; %d are not small, want some, or this test proves nothing", o.Unkept, o.Open)
	}
	var rough []string
	for _, r := range o.Rows {
		if r.Page == "" || r.File == "" {
			t.Errorf("%s has the page %q and the file %q", r.Invariant, r.Page, r.File)
		}
		if !r.Rough {
			continue
		}
		rough = append(rough, r.File)
		if text, err := os.ReadFile(r.File); err != nil || !strings.Contains(string(text), "as recorded") {
			t.Errorf("%s does not say that it is as recorded: %v, %.200s", r.Invariant, err, text)
		}
	}
	t.Logf("%v: %d runs, %d findings, %d of them as recorded", took, o.Runs, len(o.Rows), len(rough))
	cfg.Time = 2 * least // however busy the machine is
	again, said, err := search(t, cfg)
	if err != nil || !strings.Contains(said, "resuming the campaign") {
		t.Fatalf("%v: %s", err, said)
	}
	small := slices.ContainsFunc(rough, func(file string) bool {
		text, err := os.ReadFile(file) // a small one may have the same cause
		return errors.Is(err, os.ErrNotExist) || err == nil && !strings.Contains(string(text), "as recorded")
	})
	if !small || again.Unkept > 0 {
		t.Errorf("none of %d failures was made small by the same command; %d are lost", len(rough), again.Unkept)
	}
}

// TestOtherDeeds: a directory is of worlds without some deeds, and of no others.
func TestOtherDeeds(t *testing.T) {
	spec := Spec{Build: "b", First: 1, Sources: []Source{{Space: "whereabouts"}}, Without: []space.Deed{space.Operator}}
	dir := t.TempDir()
	for _, x := range []struct {
		without []space.Deed
		want    error
	}{{spec.Without, nil}, {nil, ErrWithout}, {[]space.Deed{space.Operator, space.Crash}, ErrWithout}, {spec.Without, nil}} {
		spec.Without = x.without
		h, err := openHome(dir, spec, false)
		if !errors.Is(err, x.want) {
			t.Errorf("without %v: %v, want %v", x.without, err, x.want)
		}
		if err == nil {
			h.close()
		}
	}
}

// TestWorldsAreCounted, each once, by what cannot happen in them.
func TestWorldsAreCounted(t *testing.T) {
	const runs = 12
	cfg := Config{Spec: Spec{First: 1, Sources: []Source{{Space: "whereabouts"}}, Without: []space.Deed{space.Operator}}, Runs: runs, Dir: t.TempDir()}
	var want space.Tally
	for seed := uint64(1); seed <= runs; seed++ {
		s, err := space.Draw("whereabouts", seed, space.Operator)
		if err != nil {
			t.Fatal(err)
		}
		want.Add(space.DeedsOf(&s.Doc.Spec))
	}
	o, _, err := search(t, cfg)
	if err != nil || o.Worlds.Without[space.Operator] != runs {
		t.Errorf("%v: %+v", err, o.Worlds)
	}
	sameJSON(t, o.Worlds, want)
}
