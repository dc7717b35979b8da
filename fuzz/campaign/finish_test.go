package campaign

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/sim/longtest"
)

// TestTimeIsUp: the campaign ends when its time is up, even with a queue full of failures. Each kind of
// failure has a file and a page, recorded as it is if it was not shrunk; the same command
// continues with those.
func TestTimeIsUp(t *testing.T) {
	longtest.Skip(t)
	const kinds, left, late = 8, 5 * time.Second, 10 * time.Second
	cfg := Config{Spec: queue.Spec{First: 1, Sources: []queue.Source{{Space: "calico"}}}, Dir: t.TempDir(), Workers: 2}
	full := until(t, cfg, func(p Progress) bool { return p.Open >= kinds }) // the time for this depends on the machine
	cfg.Time = full.Elapsed + left
	began := time.Now()
	o, said, err := search(t, cfg)
	took := time.Since(began)
	if err != nil || !strings.Contains(said, "resuming the campaign") || o.Why != "time is up" || took > left+late {
		t.Fatalf("%v: it took %v of %v and ended: %q\n%s", err, took, left, o.Why, said)
	}
	if o.Unkept > 0 || o.Open == 0 {
		t.Errorf("%d kinds of failures are lost, want 0; %d are not small, want some, or this test proves nothing", o.Unkept, o.Open)
	}
	var rough []string
	for _, r := range o.Rows {
		if r.Page == "" || r.File == "" || r.Issue == "" {
			t.Errorf("%s has the page %q, the file %q and the text %q", r.Invariant, r.Page, r.File, r.Issue)
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
	cfg.Time, cfg.Runs = 0, o.Runs+1
	gone := func(file string) bool { // or shrunk: the shrunk finding may have the same fingerprint
		text, err := os.ReadFile(file)
		return errors.Is(err, os.ErrNotExist) || err == nil && !strings.Contains(string(text), "as recorded")
	}
	until(t, cfg, func(Progress) bool { return slices.ContainsFunc(rough, gone) })
	if !slices.ContainsFunc(rough, gone) {
		t.Errorf("none of %d failures was made small by the same command", len(rough))
	}
}

// until runs a campaign and interrupts it when far returns true.
func until(t *testing.T, cfg Config, far func(Progress) bool) *Outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.OnProgress = func(p Progress) {
		if far(p) {
			cancel()
		}
	}
	o, err := Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestOtherClasses: all campaigns in a directory leave out the same classes of actions.
func TestOtherClasses(t *testing.T) {
	spec := queue.Spec{Build: "b", First: 1, Sources: []queue.Source{{Space: "whereabouts"}}, Without: []model.Class{model.OperatorAction}}
	dir := t.TempDir()
	for _, x := range []struct {
		without []model.Class
		want    error
	}{{spec.Without, nil}, {nil, ErrWithout}, {[]model.Class{model.OperatorAction, model.Crash}, ErrWithout}, {spec.Without, nil}} {
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

// TestWorldsAreCounted: each generated scenario is counted once, by the classes that it leaves out.
func TestWorldsAreCounted(t *testing.T) {
	longtest.Skip(t)
	const runs = 12
	cfg := Config{Spec: queue.Spec{First: 1, Sources: []queue.Source{{Space: "whereabouts"}}, Without: []model.Class{model.OperatorAction}}, Runs: runs, Dir: t.TempDir()}
	var want space.Tally
	for seed := uint64(1); seed <= runs; seed++ {
		s, err := space.Draw(managers.All(), "whereabouts", seed, model.OperatorAction)
		if err != nil {
			t.Fatal(err)
		}
		want.Add(space.ClassesOf(&s.Doc.Spec))
	}
	o, _, err := search(t, cfg)
	if err != nil || o.Worlds.Without[model.OperatorAction] != runs {
		t.Errorf("%v: %+v", err, o.Worlds)
	}
	sameJSON(t, o.Worlds, want)
}
