package plan

import (
	"fmt"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/scenarios/plan/values"
)

// Bounds and defaults of what is asked.
const (
	horizonMin     = time.Hour
	horizonMax     = values.SpanMax
	repeatsDefault = 100
	repeatsMax     = 100_000
	samplesMax     = 1000
	pointsMax      = 200_000
	// eventsMax bounds one life: some minutes of the reference.
	eventsMax = 200_000_000
)

// Points are what there is to run, in the order of their numbers: first every cell
// once with the reference, then every cell a second time, and so on; then those
// that the real code runs, in the same order. All cells of a repeat have the same
// seed, so that they are compared on one history.
func (p *Plan) Points() []Point {
	var out []Point
	s := p.Doc.Spec
	if s.Engine != Real {
		out = p.lives(Reference, func(Point) bool { return true })
	}
	switch s.Engine {
	case Real:
		out = p.lives(Real, func(Point) bool { return true })
	case Both:
		out = append(out, p.small()...)
	}
	return out
}

// small are the points that the real code lives through beside the reference: those
// of the first repeats that do not take long, as far as there is time for them.
//
// How long one takes depends on how often pods try in vain, which only the life
// itself shows. So the reference lives it, which for a small one is nothing; a plan
// of an import is judged by what is expected.
func (p *Plan) small() []Point {
	spent, tried := time.Duration(0), 0
	return p.lives(Real, func(pt Point) bool {
		cost := p.Expect(pt)
		if p.apart() == 0 || p.tooMuch(&p.Cells[pt.Cell].Cluster) != "" || cost > realEach || spent+cost > realTotal || tried == smallMax {
			return false
		}
		tried++
		if p.running() == 0 {
			c := p.Cells[pt.Cell].Cluster
			c.Apart = p.apart()
			if course, err := capacity.Play(&c, c.Trace(pt.Seed)); err == nil {
				cost += time.Duration(course.Refused) * realTry
			}
		}
		if cost > realEach || spent+cost > realTotal {
			return false
		}
		spent += cost
		return true
	})
}

func (p *Plan) lives(engine string, wanted func(Point) bool) (out []Point) {
	for r := range p.Doc.Spec.Repeats {
		for c := range p.Cells {
			if pt := (Point{Cell: c, Repeat: r, Engine: engine, Seed: seedOf(*p.Doc.Spec.Seed, r)}); wanted(pt) {
				out = append(out, pt)
			}
		}
	}
	return out
}

// seedOf is the seed of a repeat: splitmix64, so that neighbours have nothing in
// common.
func seedOf(seed uint64, repeat int) uint64 {
	const golden = 0x9e3779b97f4a7c15
	z := seed*golden + uint64(repeat+1)*golden
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Set is what the command line says instead of the file; "" and 0 are nothing.
func (p *Plan) Set(engine string, repeats int) error {
	switch engine {
	case "":
	case Real, Reference, Both:
		p.Doc.Spec.Engine = engine
	default:
		return fmt.Errorf("--engine %s: want %s, %s or %s", engine, Real, Reference, Both)
	}
	if repeats < 0 || repeats > repeatsMax {
		return fmt.Errorf("--repeats %d: want 1 to %d", repeats, repeatsMax)
	}
	if repeats > 0 {
		p.Doc.Spec.Repeats = repeats
	}
	return p.size()
}

// size refuses what no machine would finish.
func (p *Plan) size() error {
	s := p.Doc.Spec
	if n := len(p.Cells) * s.Repeats; n > pointsMax {
		return p.sheet.Fail(fmt.Sprintf("%d combinations, each %d times, are %d points, want at most %d", len(p.Cells), s.Repeats, n, pointsMax), "spec", "repeats")
	}
	for i := range p.Cells {
		if n := events(&p.Cells[i].Cluster); n > eventsMax {
			return p.sheet.Fail(fmt.Sprintf("about %.0f million events in each life of cell %d (%s), want at most %d: a shorter horizon, or less often what happens often",
				n/1e6, i+1, p.Cells[i].Title(), eventsMax/1_000_000), "spec", "horizon")
		}
	}
	return nil
}

// events estimates how many pods start in one life of a cluster, and how many
// passes of the reconciler there are, as far as it can be told beforehand.
func events(c *capacity.Cluster) float64 {
	starts, passes := expected(c)
	return 2*starts + passes
}

func expected(c *capacity.Cluster) (starts, passes float64) {
	nodes := float64(len(c.Nodes)) + float64(c.Load.Grow)/2
	pods := float64(c.Load.Pods)
	if pods == 0 {
		pods = nodes * c.Load.PodsPerNode.Mean
	}
	times := func(every time.Duration) float64 {
		if every <= 0 {
			return 0
		}
		return float64(c.Horizon) / float64(every)
	}
	t := c.Trouble
	pods = max(pods+float64(c.Load.GrowPods)/2, 0) + c.Load.Arrivals.Standing()
	starts = c.Load.Arrivals.PerHour*c.Horizon.Hours() +
		pods*(1+restarts(c)+times(c.Load.Lived())+times(t.DrainEvery)+times(t.CrashEvery)+times(t.ReplaceEvery))
	return starts, times(c.Collect.Every)
}

// restarts is how often a migration restarts all pods.
func restarts(c *capacity.Cluster) (n float64) {
	for i := range c.Migration {
		if c.Migration[i].Kind == capacity.RestartPods {
			n++
		}
	}
	return n
}

// What a point costs on one core, roughly: measured on 2026-11-21, see the tests.
const (
	perStart     = 6 * time.Microsecond // with its stop
	perPass      = 3 * time.Microsecond
	perPassBlock = 20 * time.Nanosecond // of each pod that there is

	realStart = 12 * time.Millisecond
	realPass  = 10 * time.Millisecond
	realTry   = 6 * time.Millisecond // in vain
	realBegin = 150 * time.Millisecond

	// realEach is how long a point may take that the real code runs beside the
	// reference, and realTotal all of them.
	realEach  = 10 * time.Second
	realTotal = 20 * time.Second
	// smallMax is how many points are looked at.
	smallMax = 100
)

// Expect is about how long a point takes on one core.
func (p *Plan) Expect(pt Point) time.Duration {
	c := &p.Cells[pt.Cell].Cluster
	starts, passes := expected(c)
	if pt.Engine == Real {
		return realBegin + time.Duration(starts*float64(realStart)+passes*float64(realPass))
	}
	pods := float64(len(c.Nodes)) * max(c.Load.PodsPerNode.Mean, float64(c.Load.Pods)/float64(len(c.Nodes)))
	return time.Duration(starts*float64(perStart) + passes*(float64(perPass)+pods*float64(perPassBlock)))
}
