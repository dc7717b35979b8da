package plan_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/model/capacity"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/render"
	"ipamsim/reports/golden"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/longtest"
)

const plansDir = "../plans"

// ready is a plan of scenarios/plans with some of its text changed: pairs of what
// it says and what it is to say instead.
func ready(t *testing.T, name string, change ...string) *plan.Plan {
	t.Helper()
	file := filepath.Join(plansDir, name+".yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(change); i += 2 {
		if !strings.Contains(text, change[i]) {
			t.Fatalf("%s does not say %q", file, change[i])
		}
		text = strings.Replace(text, change[i], change[i+1], 1)
	}
	p, err := plan.Parse(managers.All(), name+".yaml", []byte(text), func(string) ([]byte, error) { return nil, os.ErrNotExist })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lived is what becomes of the plan with the reference, a few times.
func lived(t *testing.T, p *plan.Plan, repeats int) *answer.Question {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the processes of ipamsim plan do
	if err := p.Set(plan.Reference, repeats); err != nil {
		t.Fatal(err)
	}
	a := p.Asked()
	for _, pt := range p.Points() {
		d, err := p.Run(context.Background(), nil, pt)
		if err != nil || d.Refused != "" {
			t.Fatalf("%s: %v %s", p.Cells[pt.Cell].Title(), err, d.Refused)
		}
		p.Collect(a, &d)
	}
	return a
}

// The tables of the ready plans, of few trials, which therefore cannot show that exhaustion is
// rare. The large one has a 128th of its nodes and of its pool.
func TestReadyPlans(t *testing.T) {
	files, err := filepath.Glob(plansDir + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, x := range map[string]struct {
		repeats int
		change  []string
	}{
		"wikimedia-staging":  {12, nil},
		"blocksize-tradeoff": {10, []string{"samples: 250", "samples: 50", "horizon: 5d", "horizon: 1d"}},
		"tkg-small-range":    {40, nil},
		"growth-5000-nodes":  {10, growthSmall},
		"replaced-nodes":     {12, nil},
		"node-ranges":        {10, nil},
		"service-ranges":     {10, nil},
	} {
		seen++
		t.Run(name, func(t *testing.T) {
			p := ready(t, name, x.change...)
			a := lived(t, p, x.repeats)
			if err := p.Bounds(answer.Bounded); err != nil {
				t.Error(err)
			}
			var b bytes.Buffer
			b.WriteString(a.Title + "\n\n" + a.Story + "\n")
			if err := render.Of(a).Text(&b); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join(plansDir, name+".golden"), b.String())
		})
	}
	if seen != len(files) {
		t.Errorf("%d plans lie in %s, and %d are tested", len(files), plansDir, seen)
	}
}

// growthSmall makes 5 of 50 nodes, 39 of 5,000, and 2,048 addresses of 262,144.
var growthSmall = []string{
	"10.0.0.0/14", "10.0.0.0/21", "nodes: 50", "nodes: 5", "grow: 4950", "grow: 34", "values: [14, 13]", "values: [21, 20]",
}

// The result of each option of T293729 in every trial, which can be derived without running
// anything. In all of them 90 pods run, and addresses suffice for each.
func TestStagingIsAsThought(t *testing.T) {
	a := lived(t, ready(t, "wikimedia-staging"), 5)
	if len(a.Cells) != 11 {
		t.Errorf("%d rows", len(a.Cells))
	}
	const owner = 1 // with a switch as the only neighbour, only the owner of the block cannot reach a borrowed address
	worst := map[string]capacity.Sample{}
	for i := range a.Cells {
		c := &a.Cells[i]
		w := capacity.Sample{}
		for _, l := range c.Courses {
			for _, s := range l.Samples {
				if s.Blackholed > owner*s.Borrowed {
					t.Errorf("%s at %s: %d borrowed addresses, and %d pairs blackholed", c.Option, s.At, s.Borrowed, s.Blackholed)
				}
				w.Borrowed, w.Waiting, w.Starved = max(w.Borrowed, s.Borrowed), max(w.Waiting, s.Waiting), max(w.Starved, s.Starved)
				w.BlocksMax, w.Blocks = max(w.BlocksMax, s.BlocksMax), max(w.Blocks, s.Blocks)
				if s.Unplaced != 90 { // both of two nodes are away, whatever is set
					w.Unplaced = max(w.Unplaced, s.Unplaced)
				}
			}
		}
		worst[c.Option] = w
	}
	for name, is := range map[string]func(s capacity.Sample) bool{
		// Both old nodes have two blocks, the new ones none; they borrow all they need.
		"as it is": func(s capacity.Sample) bool {
			return s.Starved == 2 && s.BlocksMax == 2 && s.Borrowed > 40 && s.Waiting == 0
		},
		// No node needs a second block, and while one of two nodes is away, 26 pods have none.
		"64 pods a node":   func(s capacity.Sample) bool { return s.BlocksMax == 1 && s.Borrowed == 0 && s.Unplaced == 26 },
		"release, 64 pods": func(s capacity.Sample) bool { return s.BlocksMax == 1 && s.Borrowed == 0 && s.Unplaced == 26 },
		// 90 pods are three blocks of 32 or six of 16: the old nodes may hold 6 of 8, or 12
		// of 16, which leaves one or two for each of the new ones.
		"blocks of /27": func(s capacity.Sample) bool { return s.BlocksMax == 3 && s.Blocks == 8 && s.Starved == 0 },
		"blocks of /28": func(s capacity.Sample) bool { return s.BlocksMax == 6 && s.Blocks == 16 && s.Starved == 0 },
		// The pods that the block has no address for wait instead: 90 - 64.
		"one block a node": func(s capacity.Sample) bool { return s.BlocksMax == 1 && s.Borrowed == 0 && s.Waiting == 26 },
		// No node borrows, so every pod that starts on the new nodes waits.
		"strict affinity": func(s capacity.Sample) bool { return s.Borrowed == 0 && s.Starved == 2 && s.Waiting > 40 },
		// A block of 64 is not empty before its last pod is gone, which takes a month.
		"release": func(s capacity.Sample) bool { return s.Starved > 0 && s.Borrowed > 0 },
		"release, /27": func(s capacity.Sample) bool {
			return s.Borrowed == 0 && s.Waiting == 0 && s.Starved == 0 && s.Unplaced == 0
		},
		"release, /28": func(s capacity.Sample) bool {
			return s.Borrowed == 0 && s.Waiting == 0 && s.Starved == 0 && s.Unplaced == 0
		},
		"release, /28, strict": func(s capacity.Sample) bool {
			return s.Borrowed == 0 && s.Waiting == 0 && s.Starved == 0 && s.Unplaced == 0
		},
	} {
		if s, ok := worst[name]; !ok || !is(s) {
			t.Errorf("%s: at worst %+v", name, s)
		}
	}
}

// By hand: n pods on a node take ceil(n/b) blocks of b addresses, each of them a
// route, and what is left in them lies idle.
func TestBlockSizesAreAsByHand(t *testing.T) {
	const nodes, pods = 10, 110
	p := ready(t, "blocksize-tradeoff", "samples: 250", "samples: 2", "[110, {shape: uniform, mean: 70, spread: 40}]", "[110]")
	for _, c := range lived(t, p, 1).Cells {
		want := map[string]struct {
			blocks int
			waste  float64
		}{"26": {2, 18. / 128}, "27": {4, 18. / 128}, "28": {7, 2. / 112}, "29": {14, 2. / 112}, "30": {28, 2. / 112}}[c.Values[1]]
		s := c.Courses[0].Samples[1]
		if s.Pods != nodes*pods || s.Routes != nodes*want.blocks || s.BlocksMax != want.blocks || math.Abs(s.Waste(c.BlockSize)-want.waste) > 1e-9 || c.Courses[0].Refused > 0 {
			t.Errorf("/%s: %d blocks on a node, %d routes, %.4f idle, %d refused; by hand %d, %d, %.4f, 0",
				c.Values[1], s.BlocksMax, s.Routes, s.Waste(c.BlockSize), c.Courses[0].Refused, want.blocks, nodes*want.blocks, want.waste)
		}
	}
	// Upstream's own limit is 20 blocks, which is 80 addresses of the 110.
	p = ready(t, "blocksize-tradeoff", "samples: 250", "samples: 2", "horizon: 5d", "horizon: 2h", "    maxBlocksPerHost: 28\n    strictAffinity: true\n", "")
	s := lived(t, p, 1).Cells[4].Courses[0].Samples[1]
	if s.BlocksMax != 20 || s.Waiting != nodes*(pods-80) {
		t.Errorf("/30 as it comes: %d blocks on a node, %d pods wait", s.BlocksMax, s.Waiting)
	}
}

// Three pods, each on its own node, and two free addresses: the third leak exhausts the range. Leaks
// happen at a rate of three in replaceEvery. Without a reconciler, the third leak happens by t with
// Erlang's probability. With a pass each T, unless there are at most two between any two passes,
// since a pass leaves none.
//
// The formula ignores two small effects: a leak stays for the 11 minutes until the Node object is
// gone (of a day, 1 %), and two nodes may be away at the same time.
//
// The number of exhausted trials is binomially distributed. It is compared with the formula so that
// a tail of less than 1 in 2,000 is refused: with 20 cells, which share their luck, a correct plan is
// refused once in 50 seeds, and this one is not. One leak more or less (k = 2 or 4) is refused in at
// least five cells.
func TestSmallRangeIsAsByHand(t *testing.T) {
	longtest.Skip(t)
	const trials, pods, free, tail = 250, 3, 2, 0.0005
	p := ready(t, "tkg-small-range")
	cells := lived(t, p, trials).Cells
	for k := free; k <= free+2; k++ {
		off := 0
		for i := range cells {
			c := &p.Cells[i].Cluster
			rate := pods / c.Trouble.ReplaceEvery.Hours()
			between, times := c.Horizon, 1.0
			if every := c.Collect.Every; every > 0 {
				between, times = every, float64(c.Horizon/every)
			}
			want := 1 - math.Pow(atMost(k-1, rate*between.Hours()), times)
			exhausted := 0
			for _, l := range cells[i].Courses {
				if l.Exhausted != capacity.Never {
					exhausted++
				}
			}
			few, many := tails(exhausted, trials, want)
			if few < tail || many < tail {
				off++
			}
			if k == free+1 {
				t.Logf("replaceEvery %s, reconcileEvery %s: %.3f by hand, %.3f of the trials", cells[i].Values[0], cells[i].Values[1], want, float64(exhausted)/trials)
				if few < tail || many < tail {
					t.Errorf("that is not chance")
				}
			}
		}
		if k != free+1 && off < 5 {
			t.Errorf("with %d leaks instead of %d it fits as well, but for %d cells", k, free+1, off)
		}
	}
	// Without a reconciler: after k/rate on average, here replaceEvery, with a standard deviation of
	// sqrt(k)/rate. Three of these of the mean.
	mean := time.Duration(0)
	for _, l := range cells[0].Courses {
		mean += l.Exhausted / trials
	}
	every := p.Cells[0].Cluster.Trouble.ReplaceEvery
	if off := (mean - every).Hours() / every.Hours(); cells[0].Values[1] != "0" || math.Abs(off) > 3/math.Sqrt(3*trials) {
		t.Errorf("exhausted after %s on the average, by hand %s", values.SpanText(mean), values.SpanText(every))
	}
}

// atMost is the chance of k events at most where mean are to be expected.
func atMost(k int, mean float64) float64 {
	sum, term := 0.0, math.Exp(-mean)
	for i := range k + 1 {
		if i > 0 {
			term *= mean / float64(i)
		}
		sum += term
	}
	return sum
}

// tails are the chances of at most k, and of at least k, of n that each have
// probability p.
func tails(k, n int, p float64) (few, many float64) {
	for i := range n + 1 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		x := math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if i <= k {
			few += x
		}
		if i >= k {
			many += x
		}
	}
	return few, many
}
