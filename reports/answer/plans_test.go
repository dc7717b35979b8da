package answer_test

import (
	"math/rand/v2"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer"
)

const day = 24 * time.Hour

// kind of trial that an option leads to, made up so that a reader can check what is
// said of it: no allocator is behind it.
type kind struct {
	name, cost string
	block      int
	runsOut    float64 // share of trials in which addresses run out, at day 5 to 25
	routes     int     // and up to two more
	blackholed int     // pairs, from day 3 on, and up to three more
	strict     bool
	leaked     int // at the end; it grows from nothing
}

var staging = []kind{
	{name: "as it is", block: 64, routes: 8, blackholed: 12, leaked: 6},
	{name: "64 pods a node", cost: "a node runs 64 pods at most", block: 64, routes: 4, leaked: 6},
	{name: "one block a node", block: 64, routes: 4, runsOut: 0.6, strict: true, leaked: 6},
	{name: "blocks of 32", block: 32, routes: 9, leaked: 6},
	{name: "blocks of 16", block: 16, routes: 14, leaked: 6},
	{name: "strict affinity", cost: "pods wait instead of being unreachable", block: 64, routes: 4, runsOut: 1, strict: true, leaked: 6},
}

// plan of trials of each kind. The same repeat is as lucky or unlucky for all of
// them.
func plan(kinds []kind, repeats int) *answer.Question {
	p := &answer.Question{
		Name: "wikimedia-staging", Title: "Two nodes more, and no block for them (T293729)",
		Story: "Four nodes share a /24.\nWhich option keeps every pod reachable?", File: "wikimedia-staging.yaml",
		Upstream: "github.com/projectcalico/calico@v3.31.0", Horizon: 30 * day, Repeats: repeats, Minimise: "routes",
		Require:  []answer.Bound{{Measure: "exhaustion", Most: 0.05}, {Measure: "blackholed", Most: 0}},
		Settings: []string{"pool: 10.64.75.0/24", "nodes: 4", "podsPerNode: 23"},
	}
	for _, k := range kinds {
		c := answer.Trials{Option: k.name, Cost: k.cost, BlockSize: k.block, PoolSize: 256, Engine: "reference"}
		for r := range repeats {
			c.Courses = append(c.Courses, k.courseOf(r, repeats))
		}
		p.Cells = append(p.Cells, c)
	}
	return p
}

func (k kind) courseOf(repeat, repeats int) *capacity.Course {
	luck := rand.New(rand.NewPCG(1, uint64(repeat)))
	more := luck.IntN(3)
	l := &capacity.Course{Exhausted: capacity.Never, Adds: 900, Peak: 100 + more}
	if float64(repeat) < k.runsOut*float64(repeats) {
		l.Exhausted = 5*day + time.Duration(luck.Int64N(int64(20*day)))
		l.Refused = 30
	}
	for i := range 101 {
		s := capacity.Sample{
			At: time.Duration(i) * 30 * day / 100, Nodes: 4, Pods: 90 + luck.IntN(10), Size: 256, Blocks: 256 / k.block, BlocksMax: (90 + k.block) / k.block,
			Routes: k.routes + more, Leaked: k.leaked * i / 100,
		}
		s.InUse = s.Pods + s.Leaked
		if s.At >= 3*day && k.blackholed > 0 {
			s.Blackholed, s.Borrowed, s.Starved = k.blackholed+more, (k.blackholed+more)/3, 2
		}
		if l.Exhausted != capacity.Never && s.At >= l.Exhausted {
			s.Waiting = 3
		}
		if k.strict {
			s.Stranded = float64(256-s.InUse) * 3 / 4
		}
		l.Samples = append(l.Samples, s)
	}
	return l
}
