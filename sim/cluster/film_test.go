package cluster_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// After every step the film, which is updated step by step, equals a full computation of the
// state (Still), with operators and faults, for a manager with pools and one with blocks.
func TestFilmShowsEveryStep(t *testing.T) {
	partition, pause := &action.Partition{Node: "b"}, &action.Pause{Actor: "a"}
	partition.For.Duration, pause.For.Duration = 7*time.Minute, 20*time.Second
	script := []cluster.Entry{
		{At: time.Minute, Action: &action.Reboot{Node: "a"}},
		{At: 2 * time.Minute, Action: pause},
		{At: 3 * time.Minute, Action: partition},
		{At: 12 * time.Minute, Action: &action.Scale{Kind: "StatefulSet", Name: "web", Replicas: 1}},
		{At: 13 * time.Minute, Action: &action.ReplaceNode{Node: "b", As: "c"}},
		{At: 14 * time.Minute, Action: &action.Scale{Kind: "StatefulSet", Name: "web", Replicas: 4}},
	}
	for name, ipam := range map[string]string{
		"pools":  `{"type":"canary","range":"10.0.0.0/28"}`,
		"blocks": `{"type":"canary","range":"10.0.0.0/26","blocks":29,"bug":"leaked-affinity"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var c *cluster.Cluster
			steps, tables := 0, map[string]bool{}
			compare := func(step int) {
				want, err := c.Checker.Still()
				if err != nil {
					t.Fatal(err)
				}
				f := c.Checker.Film()
				if d := cmp.Diff(want, f.At(step)); d != "" {
					t.Fatalf("after step %d: -there +film:\n%s", step, d)
				}
				for i, rows := range want {
					tables[f.Tables[i].Name] = tables[f.Tables[i].Name] || len(rows) > 0
				}
				steps = step
			}
			run(t, ipam, "StatefulSet", 3, func(cfg *cluster.Config) {
				cfg.Script, cfg.Film = script, true
				if name == "blocks" {
					cfg.Primary = cfg.Networks[0].Key
				}
				cfg.Stop = func(s *sim.Step, _ []model.Violation) bool { compare(s.Step); return false }
			}, func(started *cluster.Cluster) { c = started }, func() { compare(steps) })
			for table, used := range tables {
				if !used {
					t.Errorf("nothing was ever in table %s", table)
				}
			}
			if err := c.Checker.Film().Check(); err != nil {
				t.Error(err)
			}
			t.Logf("%d steps, %d frames, %d tables", steps, len(c.Checker.Film().Frames), len(tables))
		})
	}
}
