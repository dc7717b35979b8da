package scenarios_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

var (
	full         = flag.Bool("full", false, "determinism: all combinations of processes; quiet runs: 1,000 seeds each")
	seeds        = flag.Int("seeds", 1, "determinism: how many seeds of every scenario")
	child        = flag.String("determinism-child", "", "determinism: print the digests of seeds A-B and exit")
	pick         = flag.String("pick", "", "determinism and replay: the scenarios that make test leaves out (long), or `N` from all over the library")
	controlledBy = flag.String("controllers", "", "determinism: real has every scenario run with Kubernetes' own controllers, default simple")
	begin        = flag.Int("determinism-begin", 0, "determinism: which scenario and which seed of each the process runs first")
	burn         = flag.Bool("determinism-burn", false, "determinism: keep every processor busy until stdin closes")
)

// TestDeterminism checks that the same binary, scenario and seed give the same digest (of the schedule
// log with every note, not only of the store) and the same store digest: in two concurrent processes,
// under GOMAXPROCS 1 and 4, on an idle and on a loaded machine, and after any other run in the process:
// each process begins with another run.
func TestDeterminism(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: on the stock runtime runs need not repeat; run make determinism")
	}
	if !longtest.On() {
		t.Skip("SKIPPED: TestLibrary replays each run in another process; make test-long")
	}
	var want []string
	processes := 0
	for _, loaded := range []bool{false, true} {
		if loaded {
			defer load4(t)()
		}
		pairs := [][]string{{"1", "4"}} // GOMAXPROCS of concurrent processes
		if *full {
			pairs = [][]string{{"1", "1"}, {"4", "4"}}
		}
		for _, pair := range pairs {
			outs := make(chan []string, len(pair))
			for _, procs := range pair {
				go func(number int) { outs <- digests(t, *seeds, procs, number) }(processes)
				processes++
			}
			for range pair {
				got := <-outs
				if want == nil {
					want = got
				}
				compare(t, want, got, fmt.Sprintf("GOMAXPROCS of %v, loaded=%v", pair, loaded))
			}
		}
	}
	for _, file := range chosen(t) {
		if long(file) {
			t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) { t.Skip(leftToday) })
		}
	}
	t.Logf("%d of %d scenarios × %d seeds in %d processes, GOMAXPROCS 1 and 4, idle and loaded: %d runs compared",
		len(want) / *seeds, len(library(t)), *seeds, processes, processes*len(want))
}

func compare(t *testing.T, want, got []string, where string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d runs, want %d", where, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: differs\n  %s\n  %s", where, want[i], got[i])
		}
	}
}

// digests runs the library in a process of its own, and returns its lines in order of file
// and seed.
func digests(t *testing.T, seeds int, procs string, number int) []string {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDeterminismChild$", "-determinism-child", fmt.Sprintf("1-%d", seeds), fmt.Sprintf("-determinism-begin=%d", number), fmt.Sprintf("-full=%v", *full), "-pick="+*pick, "-controllers="+*controlledBy)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+procs)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("child: %v\n%s", err, out)
		return nil
	}
	var lines []string
	for _, l := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(l, "RUN ") {
			lines = append(lines, l)
			if !strings.HasSuffix(l, " foreign=0") {
				t.Errorf("wake-ups from outside the bubble: %s", l)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// load4 keeps the machine busy with four processes until the returned function
// is called.
func load4(t *testing.T) func() {
	var stops []func()
	for range 4 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestDeterminismChild$", "-determinism-burn")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stops = append(stops, func() { _ = in.Close(); _ = cmd.Wait() })
	}
	return func() {
		for _, f := range stops {
			f()
		}
	}
}

// TestDeterminismChild is the other process of TestDeterminism.
func TestDeterminismChild(t *testing.T) {
	switch {
	case *burn:
		for range runtime.NumCPU() {
			go func() {
				for i := 0; ; i++ {
					_ = make([]byte, i%4096) // allocate too: collections are part of the load
				}
			}()
		}
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
	case *child != "":
		var from, to uint64
		if _, err := fmt.Sscanf(*child, "%d-%d", &from, &to); err != nil {
			t.Fatal(err)
		}
		r := runner(t)
		all := chosen(t)
		n := *begin * len(all) / 8 // of up to eight processes
		all = slices.Concat(all[n:], all[:n])
		for i, file := range all {
			if long(file) {
				continue
			}
			s := load(t, file)
			if real := s.WithRealControllers(); *controlledBy == "real" && real != nil {
				s = real
			}
			if to > 10 {
				fmt.Fprintf(os.Stderr, "determinism: process %d: %s, %d of %d\n", os.Getpid(), file, i+1, len(all))
			}
			for k := range to - from + 1 {
				seed := from + (k+uint64(*begin))%(to-from+1)
				rep, err := r.Run(context.Background(), s, scenarios.Options{Seed: &seed})
				if err != nil {
					t.Fatalf("%s seed %d: %v", file, seed, err)
				}
				fmt.Printf("RUN %s seed=%d steps=%d digest=%s store=%s foreign=%d\n", file, seed, len(rep.Trace.Steps), rep.Digest, rep.StoreDigest, rep.Foreign)
			}
		}
	}
}
