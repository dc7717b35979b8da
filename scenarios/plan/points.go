package plan

import (
	"fmt"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/scenarios/plan/cost"
	"ipamsim/scenarios/plan/values"
)

// Bounds and defaults of the number of points.
const (
	horizonMin     = time.Hour
	horizonMax     = values.SpanMax
	repeatsDefault = 100
	repeatsMax     = 100_000
	samplesMax     = 1000
	pointsMax      = 200_000
	// eventsMax bounds one trial: some minutes of the reference.
	eventsMax = 200_000_000

	// realEach bounds the time of a point that the real code runs in addition to the reference,
	// realTotal that of all of them.
	realEach  = 10 * time.Second
	realTotal = 20 * time.Second
	// smallMax bounds the number of points that are considered.
	smallMax = 100
)

// Points are what there is to run, in the order of their numbers: first every cell
// once with the reference, then every cell a second time, and so on; then those
// that the real code runs, in the same order. All cells of a repeat have the same
// seed, so that they are compared on one history.
func (p *Plan) Points() []Point {
	var out []Point
	s := p.Doc.Spec
	if s.Engine != Real {
		out = p.pointsOf(Reference, func(Point) bool { return true })
	}
	switch s.Engine {
	case Real:
		out = p.pointsOf(Real, func(Point) bool { return true })
	case Both:
		out = append(out, p.small()...)
	}
	return out
}

// small returns the points that the real code simulates in addition to the reference: those of the
// first repeats that are short, as far as there is time.
//
// The time of a point depends on the number of failed attempts, which only a trial shows. So the
// reference simulates it first, which is cheap for a small one; a plan of an import is judged by
// expected values.
func (p *Plan) small() []Point {
	spent, tried := time.Duration(0), 0
	return p.pointsOf(Real, func(pt Point) bool {
		takes := p.Expect(pt)
		if p.apart() == 0 || p.tooMuch(&p.Cells[pt.Cell].Cluster) != "" || takes > realEach || spent+takes > realTotal || tried == smallMax {
			return false
		}
		tried++
		if p.running() == 0 {
			c := p.Cells[pt.Cell].Cluster
			c.Apart = p.apart()
			if course, err := capacity.Play(&c, c.Trace(pt.Seed)); err == nil {
				takes += time.Duration(course.Refused) * cost.Try
			}
		}
		if takes > realEach || spent+takes > realTotal {
			return false
		}
		spent += takes
		return true
	})
}

func (p *Plan) pointsOf(engine string, wanted func(Point) bool) (out []Point) {
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

// Set are the values of flags that override the file; "" and 0 override nothing.
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

// size refuses a plan that would not finish.
func (p *Plan) size() error {
	s := p.Doc.Spec
	if n := len(p.Cells) * s.Repeats; n > pointsMax {
		return p.sheet.Fail(fmt.Sprintf("%d combinations with %d trials each are %d points, want at most %d", len(p.Cells), s.Repeats, n, pointsMax), "spec", "repeats")
	}
	for i := range p.Cells {
		if n := cost.Events(&p.Cells[i].Cluster); n > eventsMax {
			return p.sheet.Fail(fmt.Sprintf("about %.0f million events in each trial of cell %d (%s), want at most %d: use a shorter horizon, or less frequent events",
				n/1e6, i+1, p.Cells[i].Title(), eventsMax/1_000_000), "spec", "horizon")
		}
	}
	return nil
}

// Expect estimates the time of a point on one core.
func (p *Plan) Expect(pt Point) time.Duration {
	c := &p.Cells[pt.Cell].Cluster
	if pt.Engine == Real {
		return cost.Real(c)
	}
	return cost.Reference(c)
}
