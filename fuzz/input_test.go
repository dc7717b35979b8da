package fuzz_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
	"ipamsim/sim/strategy"
)

// Any bytes are a world or are refused with an error of one line; nothing panics.
func TestAnyBytesAreAWorld(t *testing.T) {
	files, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	all, worlds, refused := managers.All(), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		in := input.Input{World: rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "world")}
		if rapid.Bool().Draw(t, "file") {
			text, err := os.ReadFile(rapid.SampledFrom(files).Draw(t, "which"))
			if err != nil {
				t.Fatal(err)
			}
			at := rapid.IntRange(0, len(text)-1).Draw(t, "where")
			in.World = append(bytes.Clone(text[:at]), in.World[:len(in.World)%5]...)
			in.World = append(in.World, text[min(len(text), at+rapid.IntRange(0, 9).Draw(t, "cut")):]...)
		}
		s, err := in.Scenario(all, rapid.SampledFrom(input.Targets(all)).Draw(t, "target"))
		var bad *strict.Error
		switch {
		case err == nil:
			worlds++
			if l := s.Doc.Spec.Limits; l.Steps < 1 || l.Steps > input.StepsMax || l.Virtual.Duration <= 0 || l.Virtual.Duration > input.VirtualMax {
				t.Fatalf("limits %+v", l)
			}
		case in.IsFile() && errors.As(err, &bad) && !strings.ContainsAny(err.Error(), "\r\n"):
			refused++
		default:
			t.Fatalf("%v", err)
		}
	})
	if worlds < 10 || refused == 0 {
		t.Errorf("%d worlds, %d refused: nothing to see", worlds, refused)
	}
}

// A run under a strategy can be written as bytes, also in the format of Go's corpus, and repeated
// from them.
func TestRecordedRunsAreInputs(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	longtest.Checks(t, "30")
	r := scenariotest.Runner(t)
	all, worlds := managers.All(), map[string]input.Input{}
	for _, target := range input.Targets(all) {
		worlds[target] = input.Input{World: bytes.Repeat([]byte{77, 3, 200, 41, 9}, 60)}
	}
	rapid.Check(t, func(t *rapid.T) {
		target := rapid.SampledFrom(input.Targets(all)).Draw(t, "target")
		s, err := worlds[target].Scenario(all, target)
		if err != nil {
			t.Fatal(err)
		}
		s.Doc.Spec.Limits.Steps = 60
		seed := rapid.Uint64().Draw(t, "seed")
		o := scenarios.Options{Seed: &seed, Store: scenarios.Memory, Strategy: rapid.SampledFrom(strategy.Names()).Filter(gated).Draw(t, "strategy")}
		in, rep, err := input.Record(context.Background(), r, s, o)
		if err != nil {
			t.Fatal(err)
		}
		if in, err = input.ParseFile(in.File()); err != nil {
			t.Fatal(err)
		}
		world, err := in.Scenario(all, target)
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.Run(context.Background(), world, scenarios.Options{Walk: in.Walk(), Store: scenarios.Memory})
		if err != nil || again.Digest != rep.Digest {
			t.Fatalf("%s under %s: digest %s, as bytes %s: %v", target, o.Strategy, rep.Digest, again.Digest, err)
		}
	})
}

func gated(name string) bool { return name != "stress" }
