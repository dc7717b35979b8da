package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/process"
	"ipamsim/reports/index"
	"ipamsim/sim/longtest"
	"ipamsim/sim/scratch"
)

var full = flag.Bool("full", false, "TestChaos: 100 kills of workers and 5 of coordinators")

// TestChaos: workers, their worker processes and the coordinator are killed at random, with SIGKILL.
// The result is the same as without: every seed counts once, every finding exists, no file is
// damaged, and no process or temporary directory is left.
func TestChaos(t *testing.T) {
	longtest.Skip(t)
	workers, coordinators, runs, pace := 8, 2, uint64(100), 300*time.Millisecond
	if *full {
		workers, coordinators, runs, pace = 100, 5, 2000, 200*time.Millisecond
	}
	calm, _, err := search(t, Config{Spec: chaosSpec(t), Runs: runs, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &chaos{T: t, dir: dir, rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))}
	c.config(map[string]any{"Spec": chaosSpec(c.T), "Runs": runs})
	wild := c.wreck(workers, coordinators, pace)
	if wild.Runs != runs || wild.Steps != calm.Steps {
		t.Errorf("%d runs with %d steps, in peace %d with %d", wild.Runs, wild.Steps, runs, calm.Steps)
	}
	if wild.Defective != calm.Defective {
		t.Errorf("%d runs in doubt %q, in peace %d", wild.Defective, wild.Defects, calm.Defective)
	}
	sameJSON(t, counts(wild), counts(calm))
	sameJSON(t, seenBy(wild), seenBy(calm))
	c.inspect(wild)
	t.Logf("%d workers and worker processes and %d coordinators killed in %v; %d runs, %d findings, %d deaths that were not confirmed",
		workers, coordinators, wild.Elapsed, wild.Runs, len(wild.Rows), len(wild.Deaths))
}

// chaosSpec fails in several ways, and with some seeds not at all.
func chaosSpec(t *testing.T) queue.Spec {
	build, err := queue.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := flakySpec("duplicate-address")
	s.Build = build
	s.Sources = append(s.Sources, queue.Source{File: "excluded.yaml", Text: fmt.Sprintf(flaky, "out-of-pool")})
	return s
}

// counts returns how often each finding was seen. The numbers differ if a run counts twice or never.
func counts(o *Outcome) map[string]uint64 {
	out := map[string]uint64{}
	for _, r := range o.Rows {
		out[r.Invariant+" "+r.Fingerprint] = r.Count
	}
	return out
}

// seenBy returns what the runs of a campaign saw.
func seenBy(o *Outcome) any {
	return map[string]any{
		"states": o.States, "allocators": o.Allocators, "pairs": o.Pairs, "unseen states": o.UnseenStates, "unseen of allocators": o.UnseenAllocators,
	}
}

type chaos struct {
	*testing.T
	dir  string
	file string
	rng  *rand.Rand
}

// config writes the configuration of the coordinators.
func (c *chaos) config(cfg map[string]any) {
	cfg["Workers"], cfg["Dir"] = 2, c.dir
	b, err := json.Marshal(cfg)
	c.file = filepath.Join(c.TempDir(), "campaign.json")
	if err = errors.Join(err, os.WriteFile(c.file, b, 0o600)); err != nil {
		c.Fatal(err)
	}
}

// wreck runs the campaign to its end, and kills processes in between.
func (c *chaos) wreck(workers, coordinators int, pace time.Duration) *Outcome {
	total, killed := workers+coordinators, 0
	for incarnation := 0; incarnation < 3*total; incarnation++ {
		cmd := process.Self(nil, "coordinator", c.file)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			c.Fatal(err)
		}
		over := make(chan struct{})
		go func() { _ = cmd.Wait(); close(over) }()
		// The coordinator is killed after its share of the workers.
		share := workers/(coordinators+1) + 1
		for n := 0; ; n++ {
			select {
			case <-over:
			case <-time.After(pace/2 + time.Duration(c.rng.Int64N(int64(pace)))):
			}
			if cmd.ProcessState != nil {
				break
			}
			if n >= share && coordinators > 0 {
				coordinators--
				killed++
				_ = cmd.Process.Kill()
				<-over
				break
			}
			if workers > 0 && c.kill(cmd.Process.Pid) {
				workers--
				killed++
			}
		}
		<-over
		if cmd.ProcessState.Success() {
			if workers+coordinators > 0 {
				c.Fatalf("the campaign was over after %d of %d kills; it must be longer", killed, total)
			}
			o := &Outcome{}
			if err := json.Unmarshal(stdout.Bytes(), o); err != nil {
				c.Fatal(err)
			}
			return o
		}
		if cmd.ProcessState.Exited() {
			c.Fatalf("the coordinator gave up: %s", &stderr)
		}
	}
	c.Fatal("the campaign does not come to its end")
	return nil
}

// kill kills a process that the coordinator or one of its workers started.
func (c *chaos) kill(root int) bool {
	all := descendants(root)
	if len(all) == 0 {
		return false
	}
	return syscall.Kill(all[c.rng.IntN(len(all))], syscall.SIGKILL) == nil
}

// descendants returns the descendants of a process, from /proc.
func descendants(root int) (out []int) {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if fields := strings.Fields(rest); len(fields) > 1 && fields[0] != "Z" {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at == root {
				out = append(out, pid)
			}
		}
	}
	slices.Sort(out)
	return out
}

// inspect checks the directory: each finding can be loaded and has a schedule, and there are no
// partial files, processes or etcd left.
func (c *chaos) inspect(o *Outcome) {
	var found []index.Finding
	b, err := os.ReadFile(filepath.Join(c.dir, "findings.json"))
	if err = errors.Join(err, json.Unmarshal(b, &found)); err != nil || len(found) != len(o.Rows) {
		c.Errorf("findings.json: %v, %d findings, want %d", err, len(found), len(o.Rows))
	}
	names := []string{".campaign", FindingsFile, IndexFile}
	for _, r := range o.Rows {
		names = append(names, filepath.Base(r.File))
		for _, page := range []string{r.Issue, r.Page, r.History} {
			if page != "" {
				names = append(names, filepath.Base(page))
			}
		}
		s, err := managers.All().Load(r.File)
		if err != nil {
			c.Error(err)
			continue
		}
		if s.Doc.Spec.Schedule == nil {
			c.Errorf("%s: %s without a schedule", r.File, r.Sentence)
		}
	}
	entries, _ := os.ReadDir(c.dir)
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	slices.Sort(names)
	sameJSON(c.T, have, names)
	c.checkGone()
}

// checkGone checks that no process or temporary directory of the campaign is left.
func (c *chaos) checkGone() {
	for range 50 { // workers need some time after their coordinator was killed
		if left, _ := exec.Command("pgrep", "-f", "^ipamsim (worker|coordinator)").Output(); len(left) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	room, err := scratch.New("workers") // which removes abandoned directories
	if err != nil {
		c.Fatal(err)
	}
	_ = room.Remove()
}
