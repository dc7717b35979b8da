package fuzz_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/linear"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/longtest"
)

var (
	linearFull   = flag.Bool("linear-full", false, "TestLinearAgrees: the long scenarios, too")
	linearWorlds = flag.Uint64("linear-worlds", 4, "TestLinearAgrees: this many worlds of each space")
	linearFirst  = flag.Uint64("linear-first", 1, "TestLinearAgrees: from this seed on")
)

// TestLinearAgrees compares two oracles on the same runs, of the library and of generated worlds:
// duplicate-address, which checks the running sandboxes after every step, and porcupine, which
// looks for an order of the calls. They report the same addresses, except for differences that are
// explained here.
func TestLinearAgrees(t *testing.T) {
	longtest.Skip(t)
	r := scenariotest.Runner(t)
	sum := agreement{explained: map[string]int{}}
	for _, s := range append(shortLibrary(t), drawnWorlds(t)...) {
		rep, err := r.Run(context.Background(), s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Errorf("%s: %v", s.Name(), err)
			continue
		}
		sum.add(t, s, rep)
	}
	t.Log(sum)
	if sum.both == 0 {
		t.Error("no duplicate in any of the runs: that nobody differs proves nothing")
	}
}

// agreement is the results of both oracles.
type agreement struct {
	runs, wires, both int
	explained         map[string]int
	spent, slowest    time.Duration
}

func (y agreement) String() string {
	s := fmt.Sprintf("%d runs, %d wires: both name %d addresses; porcupine took %s a run, at most %s", y.runs, y.wires, y.both, y.spent/time.Duration(y.runs), y.slowest)
	for _, why := range slices.Sorted(maps.Keys(y.explained)) {
		s += fmt.Sprintf("\n%5d times: %s", y.explained[why], why)
	}
	return s
}

func (y *agreement) add(t *testing.T, s *scenarios.Scenario, rep *reports.Report) {
	began := time.Now()
	res := linear.Check(rep.History, s.Policies(), linear.Patience)
	took := time.Since(began)
	y.runs, y.wires, y.spent, y.slowest = y.runs+1, y.wires+res.Checked, y.spent+took, max(y.slowest, took)
	ours, theirs := duplicates(rep), map[netip.Addr]linear.Wire{}
	for _, w := range res.Wires {
		if w.Verdict == linear.Unknown {
			t.Errorf("%s seed %d: %s was not decided", s.Name(), rep.Seed, w.Addr)
		}
		theirs[w.Addr] = w
	}
	for _, a := range addresses(ours, theirs) {
		v, byUs := ours[a]
		w, byThem := theirs[a]
		why := ""
		switch {
		case byUs && byThem:
			y.both++
			continue
		case byUs && tunnel(v):
			why = "only duplicate-address: one of the two is a node's tunnel, and the history tells of ADDs"
		case byUs && !pods(v):
			why = "only duplicate-address: one of the two is no pod, and the history tells of ADDs"
		case byUs && strings.HasPrefix(v.Code, "del-under-way"):
			why = "only duplicate-address: one of the two is about to go, and for the history it has gone when its DEL begins"
		case byThem && !overlap(rep.History, w, false):
			why = "only porcupine: two interfaces of one sandbox have it"
		case byThem && !overlap(rep.History, w, true):
			why = "only porcupine: a sandbox got it that had died during its ADD"
		default:
			t.Errorf("%s seed %d: %s: duplicate-address %t (%s), porcupine %t; this is nowhere explained", s.Name(), rep.Seed, a, byUs, v.Message, byThem)
			continue
		}
		t.Logf("%s seed %d: %s: %s", s.Name(), rep.Seed, a, why)
		y.explained[why]++
	}
}

// duplicates returns the violations of duplicate-address, by address.
func duplicates(rep *reports.Report) map[netip.Addr]model.Violation {
	out := map[netip.Addr]model.Violation{}
	for _, v := range rep.Violations {
		for _, o := range v.Objects {
			if o.Kind == model.RefAddress && v.Invariant == "duplicate-address" {
				out[netip.MustParseAddr(o.Name)] = v
			}
		}
	}
	return out
}

func addresses(ours map[netip.Addr]model.Violation, theirs map[netip.Addr]linear.Wire) []netip.Addr {
	all := append(slices.Collect(maps.Keys(ours)), slices.Collect(maps.Keys(theirs))...)
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// tunnel reports whether the holder is a node's own device, which has the name of a pod without a
// namespace.
func tunnel(v model.Violation) bool {
	return slices.ContainsFunc(v.Objects, func(o model.Ref) bool { return o.Kind == model.RefPod && o.Name[0] == '/' })
}

// pods reports whether both holders of an address are pods.
func pods(v model.Violation) bool {
	n := 0
	for _, o := range v.Objects {
		if o.Kind == model.RefPod {
			n++
		}
	}
	return n == 2
}

// overlap reports whether an address of one sandbox was assigned to another one on its wire; with
// living, to one that was running.
func overlap(h *model.History, w linear.Wire, living bool) bool {
	dead, has := map[string]bool{}, map[string]bool{}
	for _, e := range h.Events {
		switch {
		case e.Kind == model.SandboxDown, e.Kind == model.DelBegin:
			dead[e.Container] = true
			delete(has, e.Container)
		case e.Kind == model.AddEnd && slices.Contains(e.Addrs, w.Addr) && slices.Contains(w.Networks, e.Network) && !(living && dead[e.Container]):
			if has[e.Container] = true; len(has) > 1 {
				return true
			}
			if dead[e.Container] {
				delete(has, e.Container)
			}
		}
	}
	return false
}

// shortLibrary returns the scenarios of the library; without -linear-full only short ones.
func shortLibrary(t *testing.T) (out []*scenarios.Scenario) {
	files, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, f := range files {
		const many = 600
		golden, _ := os.ReadFile(strings.TrimSuffix(f, ".yaml") + ".golden")
		if m := stepsOf.FindSubmatch(golden); m != nil && !*linearFull {
			if n, _ := strconv.Atoi(string(m[1])); n > many {
				continue
			}
		}
		s, err := managers.All().Load(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s.WithSimpleControllers())
	}
	return out
}

func drawnWorlds(t *testing.T) (out []*scenarios.Scenario) {
	for seed := *linearFirst; seed < *linearFirst+*linearWorlds; seed++ {
		for _, name := range space.Names(managers.All()) {
			s, err := space.Draw(managers.All(), name, seed)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
	}
	return out
}
