package capacity_test

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/whereabouts"
	"ipamsim/model/capacity/workload"
)

// Ten nodes run a pod each, on a Whereabouts range of thirteen addresses that no
// reconciler looks after. Each node fails for good about once in a hundred days, and
// is replaced: its pod starts elsewhere, and its claim stays. Three are free, so
// that the fourth failure is one too many. Failures come at a rate of one in ten
// days, independently of each other; so the time to exhaustion is the sum of four
// exponential times, Erlang's distribution with k = free + 1 = 4: 40 days on the
// average, and within 30 with probability 1 - e^-3 (1 + 3 + 9/2 + 27/6) = 0.353.
func TestTimeToExhaustionIsErlangs(t *testing.T) {
	const nodes, free, trials = 10, 3, 2000
	const day = 24 * time.Hour
	rate := float64(nodes) / 100 // a day
	var times []float64
	for seed := range uint64(trials) {
		at := exhausted(t, smallRange(nodes, free, 100*day), seed)
		if at == capacity.Never {
			t.Fatalf("seed %d: not exhausted within two years", seed)
		}
		times = append(times, at.Hours()/24)
	}
	mean := 0.0
	for _, x := range times {
		mean += x / trials
	}
	// The standard deviation of a lifetime is sqrt(k)/rate. That of the mean of all lifetimes:
	if want, sigma := (free+1)/rate, math.Sqrt(free+1)/rate/math.Sqrt(trials); math.Abs(mean-want) > 3*sigma {
		t.Errorf("exhausted after %.2f days on the average, want %.2f ± %.2f", mean, want, 3*sigma)
	}
	// Kolmogorov and Smirnov: the largest distance between the drawn values and Erlang's
	// distribution stays below 1.63/√n for 99 of 100 sets of seeds, and for this one.
	slices.Sort(times)
	worst := 0.0
	for i, x := range times {
		cdf := erlang(free+1, rate, x)
		worst = max(worst, math.Abs(cdf-float64(i)/trials), math.Abs(cdf-float64(i+1)/trials))
	}
	if bound := 1.63 / math.Sqrt(trials); worst > bound {
		t.Errorf("the distribution is %.4f away from Erlang's, want %.4f at most", worst, bound)
	}
	if p := erlang(4, 0.1, 30); math.Abs(p-0.353) > 0.0005 {
		t.Errorf("by hand it is 0.353, and here %.4f", p)
	}
}

// exhausted returns when the first pod of a trial is refused.
func exhausted(t *testing.T, c *capacity.Cluster, seed uint64) time.Duration {
	trace := c.Trace(seed)
	p, err := capacity.NewPlayer(c, trace)
	if err != nil {
		t.Fatal(err)
	}
	for e := range trace.Events() {
		if err := p.Do(e); err != nil {
			t.Fatal(err)
		}
		if p.Course().Exhausted != capacity.Never {
			break
		}
	}
	return p.Course().Exhausted
}

// erlang is the probability that k events of a rate have happened before a time.
func erlang(k int, rate, x float64) float64 {
	sum, term := 0.0, 1.0
	for i := range k {
		if i > 0 {
			term *= rate * x / float64(i)
		}
		sum += term
	}
	return 1 - math.Exp(-rate*x)*sum
}

func smallRange(nodes, free int, failEvery time.Duration) *capacity.Cluster {
	first := netip.MustParseAddr("172.16.0.10")
	last := first
	for range nodes + free - 1 {
		last = last.Next()
	}
	c := &capacity.Cluster{
		Manager: &whereabouts.Config{}, Networks: []model.Network{{
			Key: "default/net", Overlap: true, Ranges: []model.Range{{Prefix: netip.MustParsePrefix("172.16.0.0/24"), Start: first, End: last}},
		}},
		Workload: workload.Workload{
			Load:    workload.Load{PodsPerNode: workload.Distribution{Mean: 1}},
			Trouble: workload.Trouble{ReplaceEvery: failEvery, ReplaceFor: time.Minute},
			Horizon: 730 * 24 * time.Hour, Samples: 2,
		},
	}
	for i := range nodes {
		c.Nodes = append(c.Nodes, workload.Node{Name: fmt.Sprint("worker-", i)})
	}
	return c
}
