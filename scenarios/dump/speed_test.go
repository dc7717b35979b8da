package dump_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/reports/bench"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/dump/dumptest/large"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/longtest"
)

var largest = flag.Bool("import.largest", false, "TestSpeed also imports dumps of 20,000 pods and up to 50 MB, in 30 s of processor time each")

// speeds are dumps by their size; n is how many pods or Services there are.
var speeds = []struct {
	name string
	dump func(n int) []byte
}{
	{"calico-leaks", func(n int) []byte {
		return large.Calico(large.Size{Pods: n, Nodes: n / 50, Leaks: n, Noise: noise(n)})
	}},
	{"calico-twice", func(n int) []byte { return large.Calico(large.Size{Pods: n, Nodes: n / 50, Twice: n / 2}) }},
	{"calico-one-address", func(n int) []byte { // as an operator who replaces all addresses leaves it
		return podAddresses.ReplaceAll(large.Calico(large.Size{Pods: n, Nodes: n / 50}), []byte("${1}10.0.0.9"))
	}},
	{"calico-nodes", func(n int) []byte { return large.Calico(large.Size{Pods: n, Nodes: n / 5, Astray: true}) }},
	{"calico-without-evidence", func(n int) []byte {
		text := large.Calico(large.Size{Pods: n, Nodes: n / 50, Leaks: n / 4})
		return []byte(strings.ReplaceAll(string(text), "\n--- # ", "\n--- # the list of "))
	}},
	{"whereabouts-leaks", func(n int) []byte { return large.Whereabouts(large.Size{Pods: n, Nodes: n / 50, Leaks: n}) }},
	{"services", func(n int) []byte { return large.Services(large.Size{Services: n, Leaks: n / 4}) }},
	{"pods-and-nodes", func(n int) []byte {
		return large.PodsAndNodes(large.Size{Pods: n, Nodes: n / 50, Twice: n / 2, Noise: noise(n)})
	}},
}

// podAddresses are those that pods report.
var podAddresses = regexp.MustCompile(`((?:podIP: |- ip: |podIPs?: ))10\.[0-9.]+`)

// noise makes the pods of the largest dumps as long as those of a cluster are.
func noise(n int) int {
	if n >= 20_000 {
		return 900
	}
	return 0
}

// TestSpeed: four times the size costs at most six times the processor time, from the file to
// the report, without simulated remediations.
func TestSpeed(t *testing.T) {
	longtest.Skip(t)
	r := scenariotest.Runner(t)
	for _, x := range speeds {
		t.Run(x.name, func(t *testing.T) {
			const n, most = 1000, 6.0
			small, big := x.dump(n), x.dump(4*n)
			ratio := 0.0
			for range 3 { // the collector has its own times
				a, b := timed(t, r, small), timed(t, r, big)
				ratio = b.Seconds() / a.Seconds()
				t.Logf("%d pods: %v, %d pods: %v, %.1f times as much", n, a.Round(time.Millisecond), 4*n, b.Round(time.Millisecond), ratio)
				if ratio <= most {
					break
				}
			}
			if ratio > most {
				t.Errorf("4 times the size costs %.1f times the processor time, want at most %.0f", ratio, most)
			}
			if *largest {
				text := x.dump(20_000)
				if took := timed(t, r, text); took > 30*time.Second || len(text) > 55<<20 {
					t.Errorf("%d MiB: %v of processor time, want 30s", len(text)>>20, took)
				} else {
					t.Logf("%d MiB: %v", len(text)>>20, took.Round(time.Millisecond))
				}
			}
		})
	}
}

// timed is the processor time of an import without simulated remediations.
func timed(t *testing.T, r *scenarios.Runner, text []byte) time.Duration {
	t.Helper()
	start := bench.CPU()
	c := dump.New(managers.All())
	if err := (&bundle.Reader{Cluster: c, Stdin: bytes.NewReader(text)}).Read([]string{"-"}); err != nil {
		t.Fatal(err)
	}
	is, s, v := judged(r, c, "")
	if is.err != nil {
		t.Fatal(is.err)
	}
	if err := diagnosis.WriteFound(io.Discard, []byte(is.text), v); err != nil {
		t.Fatal(err)
	}
	found := is.findings
	if len(found.All)+len(found.Supposed)+len(found.Borrowed)+len(is.report.Absent) == 0 {
		t.Fatal("nothing was found, so that nothing is measured")
	}
	within, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if err := found.Prove(within, r, s, v, diagnosis.Bound{}); err != nil {
		t.Fatal(err)
	}
	found.Style.All = true
	found.Write(io.Discard)
	return bench.CPU() - start
}
