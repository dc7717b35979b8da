package fuzz_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/gate"
	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// gateWorld is a small scenario of the canary: two pods, with or without a bug.
func gateWorld(t *testing.T, dir, name, bug string) *scenarios.Scenario {
	t.Helper()
	expect := ""
	if bug != "" {
		expect = "\n  expect: {violations: [" + bug + "]}"
		bug = `, "bug": "` + bug + `"`
	}
	file := filepath.Join(dir, name+".yaml")
	text := fmt.Sprintf(`apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: %s}
spec:
  ipam: canary
  nodes: [node-1, node-2]
  until: 30s%s
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net}
spec:
  config: '{"type": "macvlan", "ipam": {"type": "canary", "range": "10.0.0.0/28"%s}}'
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  serviceName: web
  podManagementPolicy: Parallel
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {k8s.v1.cni.cncf.io/networks: net}
    spec:
      containers: [{name: web, image: registry.example/web:1}]
`, name, expect, bug)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hermeticOnly(t *testing.T) {
	t.Helper()
	if !hermetic.Enabled {
		t.Skip("SKIP: runs need not repeat on the stock runtime")
	}
}

// gateBaseline returns the baseline of some scenarios.
func gateBaseline(t *testing.T, all ...*scenarios.Scenario) *baseline.Baseline {
	t.Helper()
	b, o, err := (&gate.Gate{Scenarios: all, Baseline: &baseline.Baseline{}, All: true, Parallel: 2, SeedsMax: 10}).Update(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range o.Rows {
		if len(r.Changes) != 1 || r.Changes[0].Kind != baseline.NewScenario {
			t.Fatalf("%+v", r)
		}
	}
	return b
}

func gateRun(t *testing.T, b *baseline.Baseline, processes int, all ...*scenarios.Scenario) *baseline.Outcome {
	t.Helper()
	o, err := (&gate.Gate{Scenarios: all, Baseline: b, All: true, Parallel: processes}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func gateText(t *testing.T, o *baseline.Outcome) string {
	t.Helper()
	o.Elapsed, o.Wall, o.Repeated = 0, 0, reports.Repeated{}
	var b bytes.Buffer
	if err := baseline.Text(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGate: a gate of the same scenarios is green, with one process and with three. With a bug in
// the manager it is red, and reports the invariant, the frequency, the command and the timeline.
func TestGate(t *testing.T) {
	hermeticOnly(t)
	dir := t.TempDir()
	calm, twice := gateWorld(t, dir, "calm", ""), gateWorld(t, dir, "twice", "duplicate-address")
	b := gateBaseline(t, calm, twice)
	one, three := gateText(t, gateRun(t, b, 1, calm, twice)), gateText(t, gateRun(t, b, 3, twice, calm))
	if one != three || !strings.HasPrefix(one, "green: 2 scenarios are as in the baseline; 6 runs\n") {
		t.Errorf("%s\nby three processes:\n%s", one, three)
	}

	o := gateRun(t, b, 2, gateWorld(t, dir, "calm", "duplicate-address"), twice)
	if !o.Red() || len(o.Rows) != 2 || o.Rows[1].Red() {
		t.Fatalf("%+v", o)
	}
	c := o.Rows[0].Changes[0]
	if c.Kind != baseline.NewViolation || c.What != "duplicate-address" || c.Before != "0 of 10 runs" || c.After != "10 of 10 runs" || c.Step == 0 {
		t.Errorf("%+v", c)
	}
	if want := "ipamsim run " + calm.File + " --seed 1"; c.Command != want {
		t.Errorf("%q, want %q", c.Command, want)
	}
	if !strings.Contains(c.Timeline, "web-1") {
		t.Errorf("no timeline: %q", c.Timeline)
	}

	o = gateRun(t, b, 2, gateWorld(t, dir, "calm", ""), gateWorld(t, dir, "twice", ""))
	if c := o.Rows[1].Changes; len(c) == 0 || c[0].Kind != baseline.VanishedViolation || !c[0].Regression {
		t.Errorf("a violation that is gone though the manager is the same: %+v", c)
	}
}

// TestGateUpdateAgain: for an unchanged result only the first seeds are run again, and the file
// does not change.
func TestGateUpdateAgain(t *testing.T) {
	hermeticOnly(t)
	calm := gateWorld(t, t.TempDir(), "calm", "")
	b := gateBaseline(t, calm)
	runs := 0
	g := &gate.Gate{Scenarios: []*scenarios.Scenario{calm}, Baseline: b, All: true, Parallel: 1, SeedsMax: 10, Progress: func(_, all int) { runs = all }}
	next, _, err := g.Update(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var x, y bytes.Buffer
	if err := baseline.Write(&x, b); err != nil {
		t.Fatal(err)
	}
	if err := baseline.Write(&y, next); err != nil {
		t.Fatal(err)
	}
	if runs != 2*baseline.Seeds || x.String() != y.String() {
		t.Errorf("%d runs\n%s\n%s", runs, x.String(), y.String())
	}
}

// TestGateDeaths: a run that kills its process affects no other run.
func TestGateDeaths(t *testing.T) {
	hermeticOnly(t)
	dir := t.TempDir()
	calm, twice := gateWorld(t, dir, "calm", ""), gateWorld(t, dir, "twice", "duplicate-address")
	b := gateBaseline(t, calm, twice)
	for _, x := range []struct {
		name, blow, want string
		kind             baseline.Kind
	}{
		{"upstream exits", "calm.yaml:1,exit", "exit status 3", baseline.NewViolation},
		{"ipamsim panics", "calm.yaml:2,panic", "panic: ours", baseline.CannotRun},
		{"killed once", "calm.yaml:1,once=" + t.TempDir(), "died once, but not when", baseline.Nondeterminism},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Setenv(dieEnv, x.blow)
			o := gateRun(t, b, 2, calm, twice)
			if len(o.Rows[0].Changes) == 0 || len(o.Rows[1].Changes) != 0 {
				t.Fatalf("%s", gateText(t, o))
			}
			if o.Repeated.Died < 1 || o.Repeated.Died > 2 { // once for each store
				t.Errorf("%+v, want a run repeated because its process died", o.Repeated)
			}
			if c := o.Rows[0].Changes[0]; c.Kind != x.kind || !c.Regression || !strings.Contains(c.Sentence, x.want) {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestGateInterrupted: the gate ends immediately, returns an error, and leaves no files.
func TestGateInterrupted(t *testing.T) {
	hermeticOnly(t)
	dir := t.TempDir()
	calm, twice := gateWorld(t, dir, "calm", ""), gateWorld(t, dir, "twice", "duplicate-address")
	t.Setenv(dieEnv, "calm.yaml:2,wait")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	o, err := (&gate.Gate{Scenarios: []*scenarios.Scenario{calm, twice}, Baseline: &baseline.Baseline{}, All: true, Parallel: 2}).Run(ctx)
	if err == nil || o != nil || ctx.Err() == nil {
		t.Errorf("%v, %v", o, err)
	}
}

// TestGateBudget: scenarios for which no time is left are listed by name, and count neither as
// green nor as a regression.
func TestGateBudget(t *testing.T) {
	hermeticOnly(t)
	dir := t.TempDir()
	calm, twice := gateWorld(t, dir, "calm", ""), gateWorld(t, dir, "twice", "duplicate-address")
	b := gateBaseline(t, calm, twice)
	t.Setenv(dieEnv, "calm.yaml:2,wait")
	o, err := (&gate.Gate{Scenarios: []*scenarios.Scenario{calm, twice}, Baseline: b, All: true, Parallel: 2, Budget: 5 * time.Second}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := o.Rows[0].Changes
	if len(c) != 1 || c[0].Kind != baseline.LeftOut || !strings.Contains(c[0].Sentence, "seeds were not run: the time of this gate, 5s, was up") {
		t.Errorf("%+v", c)
	}
	if v := o.Verdict(); !strings.HasPrefix(v, "UNKNOWN: ") || o.Elapsed > time.Minute {
		t.Errorf("%s after %s", v, o.Elapsed)
	}
}

// TestGateDecidedStops: after a run that does not end although it did before, no other runs of the
// scenario are done.
func TestGateDecidedStops(t *testing.T) {
	hermeticOnly(t)
	dir := t.TempDir()
	calm := gateWorld(t, dir, "calm", "")
	b := gateBaseline(t, calm)
	text, err := os.ReadFile(calm.File)
	if err != nil {
		t.Fatal(err)
	}
	endless := filepath.Join(dir, "endless.yaml")
	if err := os.WriteFile(endless, []byte(strings.Replace(string(text), "until: 30s", "until: 30s\n  limits: {steps: 5}", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Load(endless)
	if err != nil {
		t.Fatal(err)
	}
	o := gateRun(t, b, 1, s)
	if r := o.Rows[0]; r.Runs != 1 || len(r.Changes) != 1 || r.Changes[0].Kind != baseline.Unfinished || !r.Red() {
		t.Errorf("%s", gateText(t, o))
	}
}
