package answer_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"testing"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/render"
)

// Any plan has an answer, in every form: trials that are missing, short or without a
// sample, values that no cluster has, axes with values that no cell has.
func TestAnyPlan(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(7, seed))
		p := anyPlan(r)
		a := render.Of(p)
		for _, f := range append(a.Files(), render.File{Name: "text", Write: a.Text}) {
			if ending := path.Ext(f.Name); (ending == ".png" || ending == ".svg") && seed%10 != 0 {
				continue // the page draws all of them, too
			}
			var b bytes.Buffer
			if err := f.Write(&b); err != nil || b.Len() == 0 {
				t.Errorf("seed %d: %s: %d bytes, %v", seed, f.Name, b.Len(), err)
			}
		}
	}
}

func anyPlan(r *rand.Rand) *answer.Question {
	p := &answer.Question{Name: "any", Horizon: time.Duration(r.Int64N(int64(60 * day))), Repeats: 1 + r.IntN(12), Stopped: r.IntN(2) == 0}
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	p.Minimise = pick("routes", "leaked", "waste", "exhaustion", "calls", "", "no such thing")
	for range r.IntN(3) {
		p.Require = append(p.Require, answer.Bound{Measure: pick("exhaustion", "blackholed", "addP99", "waste"), Most: pickFloat(r)})
	}
	for i := range r.IntN(4) {
		x := answer.Axis{Setting: pick("blockSize", "reconcileEvery", "nodes", ""), Given: r.IntN(2) == 0}
		for v := range 1 + r.IntN(9) {
			x.Values = append(x.Values, fmt.Sprint(v*(i+1)))
		}
		p.Axes = append(p.Axes, x)
	}
	for range r.IntN(12) {
		c := answer.Trials{Option: pick("", "a", "b"), BlockSize: r.IntN(3) * 32, PoolSize: r.IntN(512), Engine: pick("real", "reference", "")}
		for _, x := range p.Axes {
			c.Values = append(c.Values, x.Values[r.IntN(len(x.Values))])
		}
		if r.IntN(9) == 0 {
			c.Values = nil
		}
		for range r.IntN(p.Repeats + 1) {
			c.Courses = append(c.Courses, anyCourse(r))
			if r.IntN(3) == 0 {
				c.Real = append(c.Real, anyCourse(r))
			}
		}
		p.Cells = append(p.Cells, c)
	}
	return p
}

func anyCourse(r *rand.Rand) *capacity.Course {
	if r.IntN(5) == 0 {
		return nil
	}
	l := &capacity.Course{Exhausted: capacity.Never, Adds: r.IntN(100), Refused: r.IntN(100), Peak: r.IntN(300), Calls: r.IntN(100)}
	if r.IntN(2) == 0 {
		l.Exhausted = time.Duration(r.Int64N(int64(90 * day)))
	}
	for i := range r.IntN(4) {
		n := func() int { return r.IntN(5) * r.IntN(2) }
		s := capacity.Sample{
			At: time.Duration(i) * day, Nodes: n(), Pods: n(), Waiting: n(), Size: n() * 100, InUse: n(), Leaked: n(), Stranded: float64(n()) / 3,
			Blocks: n(), BlocksMax: n(), Starved: n(), Borrowed: n(), Blackholed: n(), Routes: n(), Stale: n(),
		}
		if r.IntN(20) == 0 {
			s.Leaked, s.Stranded = math.MaxInt32, 1e300
		}
		l.Samples = append(l.Samples, s)
		l.Owners = append(l.Owners, []int32{int32(n()), int32(n())})
	}
	return l
}

func pickFloat(r *rand.Rand) float64 { return []float64{0, 0.05, 1, 10}[r.IntN(4)] }
