package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/sim/longtest"
)

// lease is a plan for a small cluster that asks how long its addresses last, with %d repeats for each
// of four combinations.
const lease = `
apiVersion: ipamsim.dev/v1alpha1
kind: Plan
metadata: {name: lease}
spec:
  ipam: calico
  horizon: 3d
  repeats: %d
  engine: reference
  settings: {nodes: 3, podsPerNode: 8, lifetime: 6h, crashEvery: 5d, crashFor: 1h, reconcileEvery: 1h}
  axes:
  - {setting: blockSize, values: [28, 29]}
  - {setting: strictAffinity, values: [false, true]}
---
apiVersion: crd.projectcalico.org/v1
kind: IPPool
metadata: {name: pool}
spec: {cidr: 10.0.0.0/26, blockSize: 28}
`

const leaseCells = 4

func leaseSpec(repeats int) queue.Spec {
	return queue.Spec{Sources: []queue.Source{{File: "lease.yaml", Text: fmt.Sprintf(lease, repeats), Plan: true}}}
}

// runPlan runs a plan and returns its points and the messages.
func runPlan(t *testing.T, ctx context.Context, cfg Config) (lines, said string, o *Outcome) {
	t.Helper()
	var b bytes.Buffer
	var words strings.Builder
	cfg.Point, cfg.Say = noted(&b), func(s string) { words.WriteString(s + "\n") }
	if cfg.Workers == 0 && cfg.Link == nil {
		cfg.Workers = 2
	}
	o, err := Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), words.String(), o
}

// inOrder checks that each point occurs once and in order.
func inOrder(t *testing.T, lines string, points int) {
	t.Helper()
	all := strings.Split(strings.TrimSpace(lines), "\n")
	if len(all) != points {
		t.Fatalf("%d points, want %d", len(all), points)
	}
	for n, line := range all {
		if !strings.HasPrefix(line, fmt.Sprintf(`%d {"`, n)) || !strings.Contains(line, `"Course":{`) {
			t.Fatalf("point %d: %.200s", n, line)
		}
	}
}

// TestPlan: every point of a plan runs once; a repetition only reads the results; the number of
// workers makes no difference.
func TestPlan(t *testing.T) {
	const repeats = 20
	cfg := Config{Spec: leaseSpec(repeats), Runs: repeats * leaseCells, Dir: t.TempDir()}
	first, _, o := runPlan(t, t.Context(), cfg)
	inOrder(t, first, repeats*leaseCells)
	if o.Why != "all points are done" || o.Runs != cfg.Runs || o.Defective > 0 {
		t.Errorf("%+v", o)
	}
	again, said, o2 := runPlan(t, t.Context(), cfg)
	if again != first || o2.Busy != o.Busy || !strings.Contains(said, "has all 80 points already") {
		t.Errorf("again: the same %t, %v of work, before %v, %q", again == first, o2.Busy, o.Busy, said)
	}
	cfg.Dir, cfg.Workers = t.TempDir(), 1
	if one, _, _ := runPlan(t, t.Context(), cfg); one != first {
		t.Error("one worker has another answer than two")
	}
	all, err := EarlierIn(cfg.Dir)
	if err != nil || len(all) != 1 || !all[0].Over || all[0].Spec.Sources[0] != cfg.Spec.Sources[0] {
		t.Errorf("%v %+v", err, all)
	}
}

// TestPlanInterrupted: the results so far are kept and delivered; the next campaign does the rest, and
// the result is the same as without the interruption.
func TestPlanInterrupted(t *testing.T) {
	longtest.Skip(t)
	const repeats = 150
	cfg := Config{Spec: leaseSpec(repeats), Runs: repeats * leaseCells, Dir: t.TempDir()}
	whole, _, _ := runPlan(t, t.Context(), cfg)
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Dir = t.TempDir()
	cfg.OnProgress = func(p Progress) {
		if p.Runs > 0 {
			cancel()
		}
	}
	some, _, o := runPlan(t, ctx, cfg)
	if o.Runs == 0 || o.Runs >= cfg.Runs || strings.Count(some, "\n") != int(o.Runs) {
		t.Fatalf("interrupted after %d points, %d delivered", o.Runs, strings.Count(some, "\n"))
	}
	if all, err := EarlierIn(cfg.Dir); err != nil || len(all) != 1 || all[0].Over {
		t.Errorf("%v %+v", err, all)
	}
	cfg.OnProgress = nil
	rest, said, _ := runPlan(t, t.Context(), cfg)
	if rest != whole {
		t.Error("in two parts it is another answer than in one")
	}
	if want := fmt.Sprintf("it stopped after %d of 600 points", o.Runs); !strings.Contains(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// TestPlanChaos: workers, their worker processes or the coordinator are killed, and the result is
// the same, byte for byte.
func TestPlanChaos(t *testing.T) {
	longtest.Skip(t)
	workers, coordinators, repeats, pace := 4, 2, 300, 250*time.Millisecond
	if *full {
		workers, coordinators, repeats = 50, 5, 5000
	}
	spec := leaseSpec(repeats)
	var err error
	if spec.Build, err = queue.Build(); err != nil {
		t.Fatal(err)
	}
	runs := uint64(repeats * leaseCells)
	calm, _, _ := runPlan(t, t.Context(), Config{Spec: spec, Runs: runs, Dir: t.TempDir()})
	c := &chaos{T: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))}
	file := filepath.Join(t.TempDir(), "points")
	c.config(map[string]any{"Spec": spec, "Runs": runs, "Points": file})
	o := c.wreck(workers, coordinators, pace)
	wild, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if o.Runs != runs || string(wild) != calm {
		t.Errorf("%d points, want %d; the same %t", o.Runs, runs, string(wild) == calm)
	}
	c.checkGone()
}

// TestPlanDeaths: a point that ends its process has an error as its result, and the other points run.
// A point that is killed from outside again and again has no result, and runs the next time.
func TestPlanDeaths(t *testing.T) {
	const repeats = 5
	cfg := Config{Spec: leaseSpec(repeats), Runs: repeats * leaseCells, Workers: 2, Dir: t.TempDir()}
	t.Setenv(dieEnv, fmt.Sprintf("3:exit,5:once=%s,7:panic", t.TempDir()))
	lines, _, o := runPlan(t, t.Context(), cfg)
	all := strings.Split(lines, "\n")
	if !strings.Contains(all[3], "exit status 3") || !strings.Contains(all[7], "panic: seed 7 is too much") || strings.Count(lines, `"Course":{`) != 18 {
		t.Errorf("%.500s\n%.500s", all[3], all[7])
	}
	if len(o.Deaths) != 1 || o.Deaths[0].Seed != 5 || o.Defective != 1 {
		t.Errorf("%+v, in doubt %q", o.Deaths, o.Defects)
	}
	cfg.Dir = t.TempDir()
	t.Setenv(dieEnv, "9:kill")
	if _, err := Run(t.Context(), cfg); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "fewer --workers") {
		t.Errorf("%v", err)
	}
	t.Setenv(dieEnv, "")
	lines, _, _ = runPlan(t, t.Context(), cfg)
	inOrder(t, lines, repeats*leaseCells)
}

// TestPlanElsewhere: a worker on another machine runs points, and needs no file.
func TestPlanElsewhere(t *testing.T) {
	stop, address, err := queue.Serve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	l := queue.Link{URL: address}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { // a process that has nothing but the address
		text, err := oneWorker(ctx, l)
		if err != nil {
			err = fmt.Errorf("%w%s", err, text)
		}
		done <- err
	}()
	lines, _, _ := runPlan(t, t.Context(), Config{Spec: leaseSpec(10), Runs: 40, Link: &l, Dir: t.TempDir()})
	inOrder(t, lines, 40)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestBundle: a body that is too long for a message is stored and loaded unchanged.
func TestBundle(t *testing.T) {
	stop, address, err := queue.Serve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	b, err := queue.Reach(t.Context(), queue.Link{URL: address}, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Create(t.Context(), "c0ffee"); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, length := range []int{0, 10, 2 * queue.BodyMax, queue.PointMax / 8} {
		want := make([]byte, length)
		for i := range want {
			want[i] = 'a' + byte(rng.IntN(26))
		}
		p, err := b.Bundle(t.Context(), "plan-0-7", queue.Squeeze(want))
		if err != nil || (p.Object != "") != (length >= 2*queue.BodyMax) || len(p.Body) > queue.BodyMax {
			t.Fatalf("%d: %v, object %q, %d bytes", length, err, p.Object, len(p.Body))
		}
		c := &coordinator{Bus: b, state: newState()}
		c.state.apply(epoch(1), at(0))
		c.state.apply(queue.Event{Result: &queue.Result{Shard: queue.Shard{Epoch: 1, Kind: queue.Plan, From: 7, Runs: 1}, Done: 1, Points: p}}, at(1))
		delivered := 0
		c.Point = func(n uint64, line []byte) error {
			if delivered++; n != 7 || !bytes.Equal(line, want) {
				t.Errorf("%d: point %d with %d bytes", length, n, len(line))
			}
			return nil
		}
		if err := c.deliver(t.Context()); err != nil || delivered != 1 {
			t.Errorf("%d: %v, delivered %d times", length, err, delivered)
		}
	}
}

// TestFirstOf: the length of a shard depends on the weights of its points.
func TestFirstOf(t *testing.T) {
	c := &coordinator{Config: Config{Weights: []float64{1, 1, 10, 1, 1, 1, 1, 1, 1, 1}}, state: newState()}
	if got := c.firstOf(queue.Span{From: 0, To: 10}); got != (queue.Span{From: 0, To: 1}) {
		t.Errorf("nothing is known: %v, want one point", got)
	}
	c.weigh(queue.Span{From: 0, To: 1})
	c.state.busy = pointsTime / 4
	for _, x := range []struct{ gap, want queue.Span }{
		{queue.Span{From: 1, To: 10}, queue.Span{From: 1, To: 2}},
		{queue.Span{From: 2, To: 10}, queue.Span{From: 2, To: 3}},
		{queue.Span{From: 3, To: 10}, queue.Span{From: 3, To: 7}},
		{queue.Span{From: 8, To: 10}, queue.Span{From: 8, To: 10}},
	} {
		if got := c.firstOf(x.gap); got != x.want {
			t.Errorf("first of %v: %v, want %v", x.gap, got, x.want)
		}
	}
}

// TestLeft: the remaining time is estimated from the weights of the points until one is done, then from
// the speed so far.
func TestLeft(t *testing.T) {
	c := &coordinator{Config: Config{Weights: []float64{10, 10, 20}, Runs: 3, Workers: 2}, state: newState()}
	c.began = pace{at: at(100)}
	c.latest = c.began
	if got := c.left(at(105)); got != 15*time.Second {
		t.Errorf("%v, want 15s", got)
	}
	c.weigh(queue.Span{From: 0, To: 1})
	c.latest = pace{at(160), c.weighed} // a quarter took a minute
	for _, x := range []struct{ now, want int }{{160, 180}, {200, 140}, {400, 0}} {
		if got := c.left(at(x.now)); got != time.Duration(x.want)*time.Second {
			t.Errorf("at %d s: %v, want %d s", x.now, got, x.want)
		}
	}
}
