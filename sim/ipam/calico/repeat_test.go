package calico

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
	"ipamsim/sim/strategy"
)

// crowd runs 20 concurrent ADDs on three nodes, too many for a node's first block, and then DELs
// for half of them together with new ADDs, under a random schedule with faults.
func crowd(t testing.TB, server *etcd.Server, datastore string, seed uint64) string {
	t.Helper()
	o := sim.Options{Seed: seed, Faults: sim.Budget{Allowed: sim.Of(sim.FailBefore, sim.LoseReply, sim.Crash), Max: 6}}
	tr, stored := story(t, server, allocRun{datastore: datastore, strategy: strategy.NewRandom(seed, strategy.Settings{}), options: o}, func(w *allocWorld) {
		w.nodes("a", "b", "c")
		w.pool("p", "10.64.75.0/27", func(s *apiv3.IPPoolSpec) { s.BlockSize = 30 })
		node := func(i int) string { return string(rune('a' + i%3)) }
		var all []*sim.Actor
		add := func(from, to int) {
			for i := from; i < to; i++ {
				w.pod(ref(fmt.Sprintf("web-%d", i)), nil)
				all = append(all, w.start(node(i), fmt.Sprintf("web-%d", i)))
			}
		}
		wait := func() {
			for _, a := range all {
				<-a.Done() // some were hurt
			}
		}
		add(0, 20)
		wait()
		for i := range 10 {
			pod := fmt.Sprintf("web-%d", 2*i)
			all = append(all, w.process("del", node(2*i), pod, func(ctx context.Context, g *sim.Gate) error {
				return w.in.Del(ctx, g, w.cniCall(node(2*i), pod))
			}))
		}
		add(20, 30)
		wait()
	})
	return fmt.Sprintf("%d steps %x %s", len(tr.Steps), tr.Digest(), stored)
}

const crowdChild = "IPAMSIM_CROWD_CHILD"

// TestCrowdChild is what TestCrowdRepeats runs in other processes.
func TestCrowdChild(t *testing.T) {
	if os.Getenv(crowdChild) == "" {
		t.Skip("only as a child of TestCrowdRepeats")
	}
	server := startEtcd(t)
	for _, ds := range datastores {
		for seed := range uint64(3) {
			fmt.Printf("DIGEST %s %d %s\n", ds, seed, crowd(t, server, ds, seed))
		}
	}
}

// One seed gives one run, messages and store, on both datastores: twice in one process and in other
// processes, with any GOMAXPROCS.
func TestCrowdRepeats(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: on the stock runtime runs need not repeat")
	}
	server := startEtcd(t)
	want := map[string]string{}
	for _, ds := range datastores {
		for seed := range uint64(3) {
			run := fmt.Sprint(ds, " ", seed)
			want[run] = crowd(t, server, ds, seed)
			if again := crowd(t, server, ds, seed); again != want[run] {
				t.Errorf("%s: %s, then %s", run, want[run], again)
			}
		}
		if want[ds+" 0"] == want[ds+" 1"] {
			t.Errorf("%s: the seed makes no difference", ds)
		}
	}
	line := regexp.MustCompile(`DIGEST (\S+ \d+) (.+)`)
	for _, procs := range []string{"1", "4"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrowdChild$")
		cmd.Env = append(os.Environ(), crowdChild+"=1", "GOMAXPROCS="+procs)
		out, err := cmd.CombinedOutput()
		found := line.FindAllStringSubmatch(string(out), -1)
		if err != nil || len(found) != len(want) {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, f := range found {
			if f[2] != want[f[1]] {
				t.Errorf("%s with GOMAXPROCS=%s: %s, here %s", f[1], procs, f[2], want[f[1]])
			}
		}
	}
}
