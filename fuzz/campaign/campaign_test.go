package campaign

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/sim/longtest"
)

// flaky is a small cluster in which an address is assigned twice with some seeds but not with
// others: pods come and go, and the canary loses claims.
//
//go:embed testdata/flaky.yaml
var flaky string

func flakySpec(bug string) queue.Spec {
	return queue.Spec{First: 1, Sources: []queue.Source{{File: "flaky.yaml", Text: fmt.Sprintf(flaky, bug)}}}
}

// search runs a campaign and also returns its messages.
func search(t *testing.T, cfg Config) (*Outcome, string, error) {
	t.Helper()
	var said strings.Builder
	cfg.Say = func(s string) { said.WriteString(s + "\n") }
	if cfg.Workers == 0 {
		cfg.Workers = 2
	}
	o, err := Run(t.Context(), cfg)
	return o, said.String(), err
}

// TestCampaign runs a campaign, checks its table, and repeats the same command.
func TestCampaign(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Spec: flakySpec("duplicate-address"), Runs: 30, Dir: dir}
	live := false // whether the page was refreshing while the campaign ran
	cfg.OnProgress = func(Progress) {
		b, err := os.ReadFile(filepath.Join(dir, IndexFile))
		live = live || err == nil && bytes.Contains(b, []byte("Running: ")) && bytes.Contains(b, []byte(`http-equiv="refresh"`))
	}
	o, _, err := search(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !live {
		t.Error("no progress was reported while it ran")
	}
	cfg.OnProgress = nil
	if o.Runs != 30 || o.Blind() || len(o.Rows) == 0 || o.Open > 0 || o.States == 0 || o.Allocators == 0 || o.Pairs == 0 ||
		o.UnseenStates.Unknown != "" || o.UnseenAllocators.Unknown != "" || o.UnseenStates.High == 0 || o.UnseenAllocators.High == 0 {
		t.Fatalf("%+v", o)
	}
	pages := 0
	for _, r := range o.Rows {
		if r.Count == 0 || r.First == 0 || r.First > 30 {
			t.Errorf("%+v", r)
		}
		s, err := managers.All().Load(r.File)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(s.Doc.Spec.Expect.Violations, r.Invariant) {
			t.Errorf("%s does not expect %s", r.File, r.Invariant)
		}
		page, err := os.ReadFile(strings.TrimSuffix(r.File, ".yaml") + ".history.html")
		if drawn := err == nil; drawn != (r.History != "") || !drawn && r.Invariant == "duplicate-address" {
			t.Errorf("%s %s: is there no order for its history, %t, or is there, %q? %v", r.Invariant, r.Fingerprint, drawn, r.History, err)
		} else if drawn {
			if pages++; !strings.Contains(string(page), "<title>"+r.Invariant+" "+r.Fingerprint+"</title>") {
				t.Errorf("%s is about something else", r.History)
			}
		}
	}
	if pages == 0 {
		t.Error("no finding has a page of its history")
	}
	checkPage(t, dir, o)
	again, said, err := search(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said, "resuming") || !strings.Contains(said, "30 runs") {
		t.Errorf("nobody said that this is not the beginning: %q", said)
	}
	if again.Runs != 30 || again.Busy != o.Busy || len(again.Rows) != len(o.Rows) {
		t.Errorf("run again:\n%+v, before\n%+v", again, o)
	}
	sameJSON(t, seenBy(again), seenBy(o))
	left, err := filepath.Glob(filepath.Join(dir, ".*-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// checkPage checks the page of a campaign that is over: it names every finding, it does not refresh,
// and all linked files exist.
func checkPage(t *testing.T, dir string, o *Outcome) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	if strings.Contains(page, "refresh") || !strings.Contains(page, "all runs are done") || strings.Count(page, "<figure>") != 5 {
		t.Errorf("the page does not look like one of a campaign that is over:\n%.2000s", page)
	}
	for _, r := range o.Rows {
		if !strings.Contains(page, r.Fingerprint) {
			t.Errorf("%s %s is not on the page", r.Invariant, r.Fingerprint)
		}
		if _, err := os.Stat(strings.TrimSuffix(r.File, ".yaml") + ".html"); (err == nil) != (r.Page != "") || r.Page == "" && !r.Rough {
			t.Errorf("%s %s has the page %q: %v", r.Invariant, r.Fingerprint, r.Page, err)
		}
	}
	issues, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(issues) == 0 {
		t.Errorf("texts of issues: %q, %v", issues, err)
	}
	for _, file := range issues {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`ipamsim replay (\S+)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
		}
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil && !strings.HasPrefix(m[1], "#") {
			t.Error(err)
		}
	}
}

// TestBlind: a campaign reports that no canary run failed.
func TestBlind(t *testing.T) {
	cfg := Config{Spec: flakySpec(""), Runs: 2, Workers: 1, Dir: t.TempDir()}
	cfg.Spec.Canary = "leaked-claim" // never detected in the canary's scenarios, which delete no pod
	o, _, err := search(t, cfg)
	if err != nil || !o.Blind() || o.Canaries == 0 {
		t.Errorf("%v, %+v", err, o)
	}
}

// TestDeaths: a run that kills its process is a finding if it does so again, alone in a new process.
// The shard continues after it.
func TestDeaths(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(dieEnv, fmt.Sprintf("3:exit,5:once=%s,8:exit,9:kill,12:panic", t.TempDir()))
	o, _, err := search(t, Config{Spec: flakySpec(""), Runs: 20, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if o.Runs != 20 {
		t.Errorf("%d runs, want 20", o.Runs)
	}
	counts := map[string]uint64{}
	for _, r := range o.Rows {
		if r.Invariant == "actor-crash" {
			counts[r.Cause.Links[0].Functions[0]] = r.Count
		}
	}
	for shape, n := range map[string]uint64{"exit status #": 2, "killed by SIGKILL, as by the kernel when memory runs out": 1} {
		if counts[shape] != n {
			t.Errorf("%q: %d, want %d; have %v", shape, counts[shape], n, counts)
		}
	}
	if len(o.Deaths) != 1 || o.Deaths[0].Seed != 5 {
		t.Errorf("unconfirmed: %+v, want seed 5", o.Deaths)
	}
	// The panic is in the test itself, so it is a defect of ipamsim and no finding.
	if o.Defective != 1 || !strings.Contains(o.Defects[0], "seed 12: ipamsim itself failed: panic: seed 12 is too much") {
		t.Errorf("in doubt: %d %q", o.Defective, o.Defects)
	}
}

// TestLostDirectory: a worker process that loses its directory before its first run cannot start
// etcd. It ends, and a new process repeats the request. Runs that did not take place are not
// counted.
func TestLostDirectory(t *testing.T) {
	calm, _, err := search(t, Config{Spec: flakySpec(""), Runs: 6, Workers: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	lost := t.TempDir()
	t.Setenv(dieEnv, "1:homeless="+lost)
	o, _, err := search(t, Config{Spec: flakySpec(""), Runs: 6, Workers: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(lost); len(entries) == 0 {
		t.Fatal("no process lost its directory")
	}
	if o.Runs != 6 || o.Steps != calm.Steps || o.Defective != 0 {
		t.Errorf("%d runs with %d steps, %d in doubt %q; want 6 with %d", o.Runs, o.Steps, o.Defective, o.Defects, calm.Steps)
	}
}

// TestOneAtATime: two coordinators cannot use the same directory.
func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	h, err := openHome(dir, flakySpec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if _, _, err := search(t, Config{Spec: flakySpec(""), Runs: 1, Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Errorf("%v, want %v", err, ErrLocked)
	}
}

// TestInterrupted: results are kept, and the next campaign continues from there.
func TestInterrupted(t *testing.T) {
	cfg := Config{Spec: flakySpec(""), Runs: 100_000, Workers: 2, Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	cfg.OnProgress = func(p Progress) {
		if p.Runs > 20 {
			cancel()
		}
	}
	began := time.Now()
	o, err := Run(ctx, cfg)
	if err != nil || o.Why != "" || o.Runs < 20 {
		t.Fatalf("%v, %+v", err, o)
	}
	cfg.OnProgress, cfg.Runs = nil, o.Runs+10
	more, said, err := search(t, cfg)
	if err != nil || more.Runs != o.Runs+10 {
		t.Errorf("%v: %d runs, want %d", err, more.Runs, o.Runs+10)
	}
	if want := fmt.Sprintf("it stopped after %d runs", o.Runs); !strings.Contains(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	t.Logf("%d runs in %v", more.Runs, time.Since(began))
}

// TestInterruptedCounts: the sightings of an interrupted campaign are the same as those of one worker
// without interruption.
func TestInterruptedCounts(t *testing.T) {
	longtest.Skip(t)
	cfg := Config{Spec: flakySpec(""), Runs: 90, Workers: 2, Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	cfg.OnProgress = func(p Progress) {
		if p.Runs > 0 {
			cancel()
		}
	}
	o, err := Run(ctx, cfg)
	if err != nil || o.Why != "" || o.Runs >= cfg.Runs {
		t.Fatalf("it was not interrupted: %v, %+v", err, o)
	}
	t.Logf("interrupted after %d runs: %v", o.Runs, seenBy(o))
	cfg.OnProgress = nil
	more, _, err := search(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	whole, _, err := search(t, Config{Spec: flakySpec(""), Runs: cfg.Runs, Workers: 1, Dir: t.TempDir()})
	if err != nil || whole.UnseenStates.Unknown != "" || whole.States == 0 {
		t.Fatalf("%v: %+v", err, whole)
	}
	sameJSON(t, seenBy(more), seenBy(whole))
}

// TestSecrets: only the user can read the campaign's files, and the credentials are in no argument
// of a process and in no file.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	stop, address, err := queue.Serve(filepath.Join(dir, "nats"))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	l := queue.Link{URL: address}
	conn, err := l.Dial("test")
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (queue.Link{URL: "nats://" + at.Host}).Dial("stranger"); err == nil {
		t.Error("a stranger without credentials got in")
	}
	if !strings.HasPrefix(at.Host, "127.0.0.1:") {
		t.Errorf("listens on %s", at.Host)
	}
	h, err := openHome(dir, flakySpec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if info, err := os.Stat(h.own); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
}

// TestWhole: an exhaustive search goes through its schedules in a fixed order, records failures when
// they occur, and restarts from the beginning.
func TestWhole(t *testing.T) {
	longtest.Skip(t)
	for _, x := range []struct {
		bug  string
		runs uint64
	}{{"", queue.WholeRuns + 3}, {"duplicate-address", 3}} {
		cfg := Config{Spec: flakySpec(x.bug), Runs: x.runs, Workers: 1, Dir: t.TempDir()}
		cfg.Spec.Strategy = queue.Exhaustive
		for range 2 {
			o, _, err := search(t, cfg)
			if err != nil || o.Runs != x.runs || (len(o.Rows) > 0) != (x.bug != "") || o.Blind() || o.UnseenStates.Unknown == "" {
				t.Errorf("%v: %d runs, want %d; %+v", err, o.Runs, x.runs, o)
			}
		}
	}
}

// sameJSON compares the results of two campaigns.
func sameJSON(t *testing.T, got, want any) {
	t.Helper()
	a, _ := json.MarshalIndent(got, "", " ")
	b, _ := json.MarshalIndent(want, "", " ")
	if !bytes.Equal(a, b) {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}
