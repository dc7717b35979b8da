package scenarios_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
	"ipamsim/sim/strategy"
)

func needClocks(t *testing.T) {
	t.Helper()
	if !hermetic.Enabled {
		t.Skip("SKIPPED: hazards with clockJump need the hermetic runtime; run make test")
	}
}

// hazard is a walk in timed order in which draws sets the first hazard: the answer to each of its draws
// that is in draws.
type hazard struct {
	sim.Strategy
	draws map[string]int
}

func (h *hazard) Pick(step int, enabled []sim.Choice) int {
	c := enabled[0]
	if n, ok := h.draws[strings.TrimPrefix(c.Op.Key, "DRAW ")]; ok && sim.Sizing(enabled) && c.Outcome == sim.Proceed && c.Op.Draws > 0 {
		if c.Op.Actor == "hazard/1" {
			return n
		} else if strings.HasPrefix(string(c.Op.Actor), "hazard/") {
			return 0
		}
	}
	return h.Strategy.Pick(step, enabled)
}

// happened are the hazards of a run.
func happened(r *reports.Report) (out []string) {
	for _, e := range r.History.Events {
		if e.Kind == model.FaultEvent {
			out = append(out, e.Text)
		}
	}
	return out
}

// Every kind of hazard happens when the schedule says so, and happens again from
// the schedule alone; the one that answers 0 has no fault.
func TestHazardsHappen(t *testing.T) {
	needClocks(t)
	says := map[string]string{
		"clockJump": "the clock of", "cloud": "the cloud refuses", "disk": "disk of node", "crash": "power loss on node", "cutSession": "cut the BGP sessions of", "kill": "kill -9", "partition": "network partition",
		"pause": "pause", "pauseNode": "pause", "plugin": "ADD of CNI plugin", "reboot": "reboot of node", "reconcile": "start", "replace": "replace the machine",
		"restart": "terminate ", "restartRuntime": "kill -9 containerd", "second": "start a second", "stopBIRD": "kill bird",
	}
	r := runner(t)
	for _, file := range []string{"testdata/hazards/whereabouts.yaml", "testdata/hazards/calico.yaml", "testdata/hazards/canary.yaml"} {
		s := load(t, file)
		for kind, name := range append(s.Doc.Spec.Hazards.Kinds, "nothing") {
			t.Run(s.Name()+"/"+name, func(t *testing.T) {
				draws := map[string]int{"hazard": 1, "kind": kind, "when": 4, "process": 0, "which": 0, "message": 2}
				if name == "nothing" {
					draws = map[string]int{"hazard": 0}
				}
				rep, err := r.Run(context.Background(), s, scenarios.Options{Walk: &hazard{strategy.NewTimed(1, strategy.Settings{}), draws}})
				if err != nil {
					t.Fatal(err)
				}
				got := happened(rep)
				want := says[name]
				if name == "restart" && strings.HasPrefix(got[0], "kill -9 kubelet/") {
					want = got[0] // a kubelet is no pod
				}
				if name == "nothing" && len(got) > 0 || name != "nothing" && (len(got) != 1 || !strings.HasPrefix(got[0], want)) || rep.Faults() != len(got) {
					t.Errorf("happened: %q, and %d faults", got, rep.Faults())
				}
				again, err := r.Run(context.Background(), s, scenarios.Options{Schedule: rep.Trace.Schedule()})
				if err != nil || again.Digest != rep.Digest || !slices.Equal(happened(again), got) {
					t.Errorf("replayed: %v, %q, digest %s, want %s", err, happened(again), again.Digest, rep.Digest)
				}
				t.Logf("%q  %v", got, violated(rep))
			})
		}
	}
}

// In the sparse form of a run its hazards are a few answers. Without the first one
// of a hazard, the rest of the run is as it was and the hazard did not happen.
func TestHazardsShrink(t *testing.T) {
	needClocks(t)
	r := runner(t)
	s := load(t, "testdata/hazards/whereabouts.yaml")
	for _, name := range []string{"crash", "pause", "second"} {
		kind := slices.Index(s.Doc.Spec.Hazards.Kinds, name)
		rec := strategy.NewRecorder(&hazard{strategy.NewTimed(1, strategy.Settings{}), map[string]int{"hazard": 1, "kind": kind, "when": 1, "process": 0, "which": 0, "message": 2}})
		first, err := r.Run(context.Background(), s, scenarios.Options{Walk: rec})
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.Run(context.Background(), s, scenarios.Options{Walk: strategy.NewSparse(rec.Exceptions())})
		if err != nil || !slices.Equal(happened(again), happened(first)) || again.Digest != first.Digest {
			t.Errorf("%s, sparse: %v, %q with digest %s, want %q with %s", name, err, happened(again), again.Digest, happened(first), first.Digest)
		}
		fewer := slices.DeleteFunc(slices.Clone(rec.Exceptions()), func(e strategy.Exception) bool {
			return e.Message.Actor == "hazard/1" && e.Message.Seq == 1 && e.Outcome == sim.Proceed
		})
		without, err := r.Run(context.Background(), s, scenarios.Options{Walk: strategy.NewSparse(fewer)})
		if err != nil || without.Faults() != 0 || first.Faults() != 1 {
			t.Errorf("%s: %v, %d exceptions without the answer, %d with it; then happened %q, before %q",
				name, err, len(fewer), len(rec.Exceptions()), happened(without), happened(first))
		}
	}
}

// Hazards of every kind, at random, repeat with the seed.
func TestHazardsRepeat(t *testing.T) {
	longtest.Skip(t)
	needClocks(t)
	r := runner(t)
	for _, file := range []string{"testdata/hazards/whereabouts.yaml", "testdata/hazards/calico.yaml"} {
		s := load(t, file)
		faults := map[int]int{}
		for seed := range uint64(hazardSeeds) {
			for _, name := range []string{"random", "timed"} {
				var first *reports.Report
				for range 2 {
					rep, err := r.Run(context.Background(), s, scenarios.Options{Seed: &seed, Strategy: name})
					if err != nil {
						t.Fatalf("%s, seed %d: %v", name, seed, err)
					}
					if first == nil {
						first = rep
					}
					if rep.Digest != first.Digest || rep.StoreDigest != first.StoreDigest {
						t.Errorf("%s, %s, seed %d: digest %s, then %s; %q", s.Name(), name, seed, first.Digest, rep.Digest, happened(rep))
					}
				}
				faults[first.Faults()]++
			}
		}
		t.Logf("%s: runs by number of faults: %v", s.Name(), faults)
		if faults[0] == 0 || faults[1] == 0 || faults[2] == 0 {
			t.Errorf("%s: want runs without, with one and with two hazards", s.Name())
		}
	}
}

const hazardSeeds = 6
