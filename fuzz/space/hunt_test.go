package space_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	shapes "ipamsim/fuzz/shape"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/prose"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim"
)

// The hunt runs worlds of a space one after another and prints a line for every violation:
//
//	go test ./fuzz/space -run Hunt -v -space whereabouts -seeds 1-2000
var (
	huntSpace = flag.String("space", "", "hunt in this space")
	huntSeeds = flag.String("seeds", "1-200", "the worlds to run")
	faultless = flag.Bool("faultless", false, "take faults and hazards out of every world")
	keep      = flag.String("keep", "", "write the worlds that fail into this directory, with their schedules")
	story     = flag.String("story", "", "print the steps and events that contain one of these words, comma-separated")
	only      = flag.String("invariant", "", "print only violations of this one")
)

func TestHunt(t *testing.T) {
	if *huntSpace == "" {
		t.Skip("no -space: nothing to hunt in")
	}
	var from, to uint64
	if _, err := fmt.Sscanf(*huntSeeds, "%d-%d", &from, &to); err != nil {
		t.Fatalf("-seeds %q: want A-B", *huntSeeds)
	}
	r := scenariotest.Runner(t)
	h := hunt{runs: map[string]int{}, classes: map[string]int{}, first: map[string]uint64{}, busy: map[string]int{}}
	started := time.Now()
	for seed := from; seed <= to; seed++ {
		s, err := space.Draw(managers.All(), *huntSpace, seed)
		if err != nil {
			t.Fatal(err)
		}
		if *faultless {
			s.Doc.Spec.Faults, s.Doc.Spec.Hazards = scenarios.Faults{}, scenarios.Hazards{}
		}
		rep, err := r.Run(context.Background(), s, scenarios.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		h.note(t, seed, rep)
		if *story != "" {
			printNamed(t, rep, strings.Split(*story, ","))
		}
		if *keep != "" && len(rep.Violations) > 0 {
			text, err := s.Finding(rep)
			if err == nil {
				err = os.WriteFile(filepath.Join(*keep, s.Name()+".yaml"), text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	wall := time.Since(started)
	t.Logf("%d runs in %s, %.1f a second; %d steps a run", to-from+1, wall.Round(time.Second), float64(to-from+1)/wall.Seconds(), h.steps/int(to-from+1))
	slices.Sort(h.sizes)
	for _, p := range []int{10, 50, 75, 90, 99} {
		t.Logf("%d %% of the runs have at most %d steps", p, h.sizes[len(h.sizes)*p/100])
	}
	for _, m := range []map[string]int{h.busy, h.runs, h.classes} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			t.Logf("%5d  %-60s %d", m[k], k, h.first[k])
		}
	}
}

// hunt counts the results.
type hunt struct {
	steps   int
	sizes   []int             // steps of each run
	runs    map[string]int    // by strategy and verdict
	classes map[string]int    // runs with a violation, by invariant and whether a fault preceded it
	first   map[string]uint64 // the first seed of each class
	busy    map[string]int    // steps, by the first word of the actor's name
}

func (h *hunt) note(t *testing.T, seed uint64, rep *reports.Report) {
	h.steps += len(rep.Trace.Steps)
	h.sizes = append(h.sizes, len(rep.Trace.Steps))
	for _, s := range rep.Trace.Steps {
		h.busy[s.Choice.Op.Actor.Kind()]++
	}
	strategy, _, _ := strings.Cut(rep.Strategy, "(")
	h.runs[fmt.Sprintf("%s %s", strategy, rep.Verdict)]++
	seen := map[string]bool{}
	for _, v := range rep.Violations {
		var faults []string
		for _, e := range rep.History.Events {
			if e.Kind == model.FaultEvent && e.Step <= v.Step {
				faults = append(faults, e.Actor+": "+e.Text)
			}
		}
		class := v.Invariant + at(rep.Trace.Steps, v) + ", without a fault"
		if len(faults) > 0 {
			class = v.Invariant + at(rep.Trace.Steps, v) + ", after faults"
		}
		if !seen[class] {
			seen[class] = true
			if h.classes[class]++; h.classes[class] == 1 {
				h.first[class] = seed
			}
		}
		if *only == "" || *only == v.Invariant {
			t.Logf("seed %d %s step %d at %s: %s %s %q faults %q", seed, rep.Strategy, v.Step, v.At.Round(time.Millisecond), v.Invariant, v.Message, v.Objects, faults)
		}
	}
	if rep.Verdict == reports.Unknown || rep.Reason != "" {
		t.Logf("seed %d %s: %s", seed, rep.Strategy, rep.Reason)
	}
}

// at returns what the step of a violation did: its process, its verb, and the kind of object. It is
// "" for quiescent invariants, which no step breaks.
func at(steps []*sim.Step, v model.Violation) string {
	if v.Step == 0 || v.Step > len(steps) || v.Invariant == "convergence" || v.Invariant == "leaked-claim" {
		return ""
	}
	op := steps[v.Step-1].Choice.Op
	return " at " + shapes.Op(op)
}

// printNamed prints every step and every event that contains one of the words.
func printNamed(t *testing.T, rep *reports.Report, words []string) {
	names := func(line string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) })
	}
	events := rep.History.Events
	past := func(step int) {
		for ; len(events) > 0 && events[0].Step <= step; events = events[1:] {
			e := events[0]
			if line := fmt.Sprintf("%9s %5d * %s %s %s %s %s %.12s %v %s %s", e.At.Round(time.Millisecond), e.Step, e.Kind, e.Actor, e.Node, e.Pod, e.Interface, e.Container, e.Addrs, e.Text, e.Err); names(line) {
				t.Log(line)
			}
		}
	}
	for i, s := range rep.Trace.Steps {
		past(i)
		if line := fmt.Sprintf("%9s %5d %s %s %s | %s", s.At.Round(time.Millisecond), i+1, s.Choice.Outcome, s.Choice.Op, s.Note, prose.Act(new(rep.Act(s.Detail)))); names(line) {
			t.Log(line)
		}
	}
	past(len(rep.Trace.Steps))
}
