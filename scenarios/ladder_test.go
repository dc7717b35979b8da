package scenarios_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
	"ipamsim/sim"
)

// The window ladder: Whereabouts' ip-reconciler lists the pools, then the pods,
// and trusts both. How long does a strategy take to make K writes of CNI plugins
// fall between the two? All strategies have the same world, store and budget.
var (
	ladderRungs      = []int{1, 3, 6, 12}
	ladderStrategies = []string{"stress", "random", "pos", "pct", "timed", "stall", "portfolio"}

	ladderBudget = flag.Duration("ladder-budget", 10*time.Second, "bench: processor time of one trial of the ladder")
	ladderTrials = flag.Int("ladder-trials", 30, "bench: trials for each strategy, every one with fresh seeds")
	ladderSeed   = flag.Uint64("ladder-seed", 1_000_000, "bench: first seed of the ladder")
	ladderAlone  = flag.Bool("ladder", false, "bench: climb the window ladder and nothing else")
	ladderPart   = flag.String("ladder-part", "", "bench: I/N, the trials of one of N processes; prints them")
)

// ladderProcesses is how many processes share the trials, a core each.
const ladderProcesses = 2

// trial is one strategy searching from fresh seeds until the highest rung is
// reached or the budget is spent.
type trial struct {
	Strategy string
	Runs     int
	Hits     []int     // runs that reached each rung
	First    []float64 // processor seconds to the first of them; the budget if there was none
}

// widest is the largest number of writes of CNI plugins, accepted by the API
// server, between the two lists of one pass of the reconciler.
func widest(tr *sim.Trace) (most int) {
	writes, open := 0, map[sim.ActorID]int{}
	for _, s := range tr.Steps {
		op := s.Choice.Op
		switch {
		case strings.HasPrefix(string(op.Actor), "cni-"):
			if op.Kind == sim.Write && strings.HasPrefix(s.Note, "20") {
				writes++
			}
		case !strings.HasPrefix(string(op.Actor), "ip-reconciler"):
		case op.Key == "LIST ippools":
			open[op.Actor] = writes
		case op.Key == "LIST pods":
			most = max(most, writes-open[op.Actor])
		}
	}
	return most
}

// climb is one trial.
func climb(t *testing.T, r *scenarios.Runner, s *scenarios.Scenario, strategy string, seed uint64) trial {
	out := trial{strategy, 0, make([]int, len(ladderRungs)), make([]float64, len(ladderRungs))}
	top := len(ladderRungs) - 1
	began := bench.CPU() // a neighbour's load is not the strategy's fault
	for out.Hits[top] == 0 && bench.CPU()-began < *ladderBudget {
		n := widest(run(t, r, s, scenarios.Options{Strategy: strategy, Seed: &seed}).Trace)
		seed++
		out.Runs++
		for i, k := range ladderRungs {
			if n < k {
				break
			}
			if out.Hits[i]++; out.Hits[i] == 1 {
				out.First[i] = min(bench.CPU()-began, *ladderBudget).Seconds()
			}
		}
	}
	for i, h := range out.Hits {
		if h == 0 {
			out.First[i] = ladderBudget.Seconds()
		}
	}
	return out
}

// TestLadderPart is one process of the ladder; benchLadder starts it.
func TestLadderPart(t *testing.T) {
	part, parts, ok := strings.Cut(*ladderPart, "/")
	if !ok {
		t.Skip("SKIPPED: make bench")
	}
	i, _ := strconv.Atoi(part)
	n, err := strconv.Atoi(parts)
	if err != nil {
		t.Fatal(err)
	}
	r, s := runner(t), load(t, filepath.Join("testdata", "ladder.yaml"))
	run(t, r, s, scenarios.Options{}) // warm
	for ; i < *ladderTrials; i += n {
		for j, name := range ladderStrategies {
			const apart = 100_000 // no two trials share a seed
			seed := *ladderSeed + uint64(i*len(ladderStrategies)+j)*apart
			line, err := json.Marshal(climb(t, r, s, name, seed))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("trial %s\n", line)
		}
	}
}

// TestLadder is the ladder without the rest of make bench:
//
//	go test -overlay=$(go run ./cmd/hermetic) -tags hermetic -timeout 60m -run '^TestLadder$' -v ./scenarios -ladder
func TestLadder(t *testing.T) {
	if !*ladderAlone {
		t.Skip("SKIPPED: make bench, or -ladder")
	}
	benchLadder(t, map[string]metric{})
}

// benchLadder climbs with every strategy, in two processes, and prints the table.
func benchLadder(t *testing.T, m map[string]metric) {
	parts := make([]*exec.Cmd, ladderProcesses)
	outs := make([]strings.Builder, ladderProcesses)
	for i := range parts {
		parts[i] = exec.Command(os.Args[0], "-test.run", "^TestLadderPart$", "-ladder-part", fmt.Sprintf("%d/%d", i, ladderProcesses),
			"-ladder-budget", ladderBudget.String(), "-ladder-trials", fmt.Sprint(*ladderTrials), "-ladder-seed", fmt.Sprint(*ladderSeed))
		parts[i].Stdout, parts[i].Stderr = &outs[i], os.Stderr
		if err := parts[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string][]trial{}
	for i, p := range parts {
		if err := p.Wait(); err != nil {
			t.Fatalf("part %d: %v\n%s", i, err, outs[i].String())
		}
		for line := range strings.Lines(outs[i].String()) {
			if text, ok := strings.CutPrefix(line, "trial "); ok {
				var tr trial
				if err := json.Unmarshal([]byte(text), &tr); err != nil {
					t.Fatal(err)
				}
				all[tr.Strategy] = append(all[tr.Strategy], tr)
			}
		}
	}
	ladderTable(all, m)
}

// ladderTable prints a row for each strategy and keeps the figures.
func ladderTable(all map[string][]trial, m map[string]metric) {
	fmt.Printf("| strategy | runs/s |%s\n|---|---|%s\n", rungs(" K = %d |"), rungs("---|"))
	for _, name := range ladderStrategies {
		trials, runs, spent := all[name], 0, 0.
		for _, tr := range trials {
			runs += tr.Runs
			spent += tr.First[len(tr.First)-1]
		}
		row := fmt.Sprintf("| %s | %.1f |", name, float64(runs)/spent)
		for i, k := range ladderRungs {
			hits, found := 0, 0
			var first []float64
			for _, tr := range trials {
				hits += tr.Hits[i]
				first = append(first, tr.First[i])
				if tr.Hits[i] > 0 {
					found++
				}
			}
			mid := bench.Median(first)
			row += fmt.Sprintf(" %.2f %%, %d of %d, %.1f s |", 100*float64(hits)/float64(runs), found, len(trials), mid)
			key := fmt.Sprintf("ladder_k%d_%s_", k, name)
			how := fmt.Sprintf("%d accepted writes of CNI plugins between two adjacent lists of the ip-reconciler; %d trials with fresh seeds of at most %v of processor time (etcd and collector included), %d runs in all",
				k, len(trials), *ladderBudget, runs)
			m[key+"hits"] = bench.NewFigure(float64(found), "trials", how)
			m[key+"median_s"] = bench.NewFigure(mid, "s", how+"; processor time to the first hit, trials without one counted at the budget")
			m[key+"rate"] = bench.NewFigure(100*float64(hits)/float64(runs), "% of runs", how)
		}
		fmt.Println(row)
	}
}

func rungs(format string) (out string) {
	for _, k := range ladderRungs {
		if strings.Contains(format, "%d") {
			out += fmt.Sprintf(format, k)
		} else {
			out += format
		}
	}
	return out
}
