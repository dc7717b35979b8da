package fuzz_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/input"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

var hunter = flag.String("hunter", "", "FuzzHunt: lit or dark, with or without feedback")

// The hunt: starting from the plainest world only, Go's fuzzer has to find two running pods with
// the same address. That needs a world of FuzzReconcilers with more than one pod, a CronJob, churn
// and a slow network status, or worse, which are several changes together. A hunt without a result
// after huntMax executions is given up.
const (
	huntTarget = "FuzzReconcilers"
	huntMax    = 2000
)

var huntSeed = make([]byte, 19*8) // 19 fields of 8 bytes, all 0

func caught(rep *reports.Report) bool {
	return slices.ContainsFunc(rep.Violations, func(v model.Violation) bool { return v.Invariant == "duplicate-address" })
}

// FuzzHunt is for TestBench.
func FuzzHunt(f *testing.F) {
	if *hunter == "" {
		f.Skip("SKIPPED: make bench")
	}
	r, err := runner()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(huntSeed, []byte{})
	f.Fuzz(func(t *testing.T, world, schedule []byte) {
		in := input.Input{World: world, Schedule: schedule}
		s, err := in.Scenario(managers.All(), huntTarget)
		var bad *strict.Error
		if errors.As(err, &bad) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Run(context.Background(), s, scenarios.Options{Walk: in.Walk(), Store: scenarios.Memory})
		if errors.As(err, &bad) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if *hunter == "lit" {
			coverage.Count(rep)
		}
		if caught(rep) {
			t.Error(gotcha)
		}
	})
}

const gotcha = "caught"

var executions = regexp.MustCompile(`execs: (\d+)`)

// hunt returns the number of executions that Go's fuzzer needed, +Inf if huntMax were too few.
func hunt(t *testing.T, how string) float64 {
	c := exec.Command(os.Args[0], "-test.run=^$", "-test.fuzz=^FuzzHunt$", "-test.parallel=1", "-hunter="+how,
		fmt.Sprintf("-test.fuzztime=%dx", huntMax), "-test.fuzzminimizetime=0x", "-test.fuzzcachedir="+t.TempDir())
	c.Dir = t.TempDir() // where the fuzzer writes a crash
	out, err := c.CombinedOutput()
	lines := executions.FindAllSubmatch(out, -1)
	found := strings.Contains(string(out), gotcha)
	if len(lines) == 0 || !found && err != nil || strings.Contains(string(out), "not built with coverage") {
		t.Fatalf("%v: %s\nThe hunt needs -gcflags=ipamsim/fuzz/coverage/counter=-d=libfuzzer: make bench", err, out)
	}
	if !found {
		return math.Inf(1)
	}
	n, _ := strconv.Atoi(string(lines[len(lines)-1][1]))
	return float64(n)
}
