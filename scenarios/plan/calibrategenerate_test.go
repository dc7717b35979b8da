package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"ipamsim/scenarios/calibrate/observe"
)

// truth is a world whose parameters are known. Nothing of it is drawn with the code that
// is tested: pods are renewal processes of their own, nodes alternate.
type truth struct {
	days, nodes, slots      int
	podsPerDay              float64 // growth
	drainEvery, drainFor    float64 // hours, exponential
	crashEvery, crashFor    float64
	replaceEvery, replaceIn float64
	jobsPerHour             float64
	jobHours                float64 // mean lifetime, exponential
	rush                    bool    // jobs come by day, three times as often
}

var year = truth{
	days: 365, nodes: 10, slots: 40, podsPerDay: 0.3,
	drainEvery: 24 * 30, drainFor: 2, crashEvery: 24 * 60, crashFor: 0.5, replaceEvery: 24 * 90, replaceIn: 0.4,
	jobsPerHour: 1.5, jobHours: 0.7, rush: true,
}

var begins = time.Date(2025, 3, 3, 0, 0, 0, 0, time.UTC) // a Monday

// lifetime draws the lifetime of a pod that is recreated: a third end within an hour, the rest run
// long.
func lifetime(r *rand.Rand) float64 {
	if r.Float64() < 0.3 {
		return 0.5 * math.Exp(r.NormFloat64())
	}
	return 100 * math.Pow(r.ExpFloat64(), 1.25) // Weibull, shape 0.8
}

// lifetimeBy is the age by which a share has ended, by bisection of the distribution.
func lifetimeBy(share float64) float64 {
	low, high := 1e-6, 1e6
	for range 200 {
		x := math.Sqrt(low * high)
		f := 0.3*0.5*math.Erfc(-math.Log(x/0.5)/math.Sqrt2) + 0.7*-math.Expm1(-math.Pow(x/100, 0.8))
		if f < share {
			low = x
		} else {
			high = x
		}
	}
	return low
}

// world is what happened, in hours since the beginning.
type world struct {
	truth
	pods  []calibratedPod
	nodes []machine
}

type calibratedPod struct {
	name, node string
	job        bool
	born, died float64
}

type machine struct {
	name         string
	born, gone   float64 // gone: +Inf if it stays
	drains, outs [][2]float64
}

func (t truth) world(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 99))
	w := &world{truth: t}
	end := float64(t.days) * 24
	for range t.nodes {
		for at := -100.0; at < end; {
			m := t.machine(r, at, end)
			m.name = fmt.Sprintf("node-%d", len(w.nodes))
			w.nodes = append(w.nodes, m)
			at = m.gone + r.ExpFloat64()*t.replaceIn
		}
	}
	slot := func(at float64) {
		for at < end {
			m := w.serving(r, at)
			died := min(at+lifetime(r), m.ends(at))
			if died > 0 {
				w.pods = append(w.pods, calibratedPod{name: fmt.Sprintf("pod-%d", len(w.pods)), node: m.name, born: at, died: died})
			}
			at = died
		}
	}
	for range t.slots {
		slot(-24 * 400)
	}
	for at := r.ExpFloat64() * 24 / t.podsPerDay; at < end; at += r.ExpFloat64() * 24 / t.podsPerDay {
		slot(at)
	}
	for at := -10 * t.jobHours; at < end; {
		at += r.ExpFloat64() / (2 * t.jobsPerHour)
		// Thinned: 1.5 times the mean by day, half of it by night.
		keep := 0.5
		if h := math.Mod(at+240, 24); t.rush && h >= 6 && h < 18 {
			keep = 0.75
		} else if t.rush {
			keep = 0.25
		}
		if r.Float64() < keep {
			if died := at + r.ExpFloat64()*t.jobHours; died > 0 {
				w.pods = append(w.pods, calibratedPod{name: fmt.Sprintf("job-%d", len(w.pods)), node: w.serving(r, at).name, job: true, born: at, died: died})
			}
		}
	}
	return w
}

// serving is some node that takes pods at a time.
func (w *world) serving(r *rand.Rand, at float64) *machine {
	for {
		m := &w.nodes[r.IntN(len(w.nodes))]
		away := func(s [2]float64) bool { return at >= s[0] && at < s[1] }
		if m.born <= max(at, 0) && at < m.gone && !slices.ContainsFunc(m.drains, away) && !slices.ContainsFunc(m.outs, away) {
			return m
		}
	}
}

// evict is how long pods stay on a node that is silent, in hours.
const evict = 340. / 3600

// ends is when a pod of a node has to go at the latest: with the next drain, or once the
// node has been silent or gone for long enough.
func (m *machine) ends(at float64) float64 {
	out := m.gone + evict
	for _, d := range m.drains {
		if d[0] > at {
			out = min(out, d[0])
		}
	}
	for _, o := range m.outs {
		if o[0] > at && o[1]-o[0] > evict {
			out = min(out, o[0]+evict)
		}
	}
	return out
}

// machine runs until it is lost; drains and crashes happen while it serves.
func (t truth) machine(r *rand.Rand, born, end float64) machine {
	m := machine{born: born, gone: math.Inf(1)}
	for at := max(born, 0); at < end; {
		d, c, l := r.ExpFloat64()*t.drainEvery, r.ExpFloat64()*t.crashEvery, r.ExpFloat64()*t.replaceEvery
		switch next := min(d, c, l); {
		case at+next >= end:
			return m
		case next == l:
			m.gone = at + next
			return m
		case next == d:
			out := r.ExpFloat64() * t.drainFor
			m.drains = append(m.drains, [2]float64{at + next, at + next + out})
			at += next + out
		default:
			out := r.ExpFloat64() * t.crashFor
			m.outs = append(m.outs, [2]float64{at + next, at + next + out})
			at += next + out
		}
	}
	return m
}

func at(hours float64) time.Time {
	return begins.Add(time.Duration(hours * float64(time.Hour))).Truncate(time.Second)
}

// history is the history that a complete log shows, with a listing at the beginning.
func (w *world) history() *observe.History {
	end := float64(w.days) * 24
	all := observe.Window{From: begins, To: at(end)}
	h := &observe.History{Scans: []time.Time{begins}, NodeScans: []time.Time{begins, all.To}, Logged: all.Length()}
	for _, a := range []observe.Aspect{observe.PodStarts, observe.PodEnds, observe.Nodes, observe.Cordons, observe.Ready} {
		h.Windows[a] = all
	}
	for _, p := range w.pods {
		if p.born >= end {
			continue
		}
		x := observe.Pod{Namespace: "n", Name: p.name, Node: p.node, Born: at(p.born), Entered: at(max(p.born, 0)), Last: at(min(p.died, end)), Ended: p.died <= end}
		if x.Owner = (observe.Owner{Kind: "ReplicaSet", Known: true}); p.job {
			x.Owner.Kind = "Job"
		}
		if x.Ended {
			x.Gone = x.Last
		}
		h.Pods = append(h.Pods, x)
	}
	slices.SortFunc(h.Pods, func(a, b observe.Pod) int { return a.Born.Compare(b.Born) })
	for _, m := range w.nodes {
		if m.born >= end {
			continue
		}
		n := observe.Node{Name: m.name, Born: at(m.born), First: at(max(m.born, 0)), Last: at(min(m.gone, end)), Ended: m.gone <= end}
		if n.Ended {
			n.Gone = n.Last
		}
		spans := func(all [][2]float64) (out []observe.Span) {
			for _, s := range all {
				if s[0] < end {
					out = append(out, observe.Span{From: at(s[0]), To: at(min(s[1], end)), Began: true, Over: s[1] <= end})
				}
			}
			return out
		}
		n.Cordons, n.Silences = spans(m.drains), spans(m.outs)
		h.Nodes = append(h.Nodes, n)
	}
	return h
}

// ages is a listing of pods with exponential lifetimes around 50 h, in a steady cluster.
func (t truth) ages(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 7))
	w := &world{truth: t}
	for i := range t.slots {
		w.pods = append(w.pods, calibratedPod{name: fmt.Sprintf("pod-%d", i), born: -r.ExpFloat64() * 50, died: 1e6})
	}
	return w
}
