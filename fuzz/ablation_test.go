package fuzz_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/space"
	"ipamsim/reports/bench"
	"ipamsim/scenarios"
)

var (
	ablation     = flag.String("ablation", "", "TestAblation: keep the runs in this directory")
	ablationRuns = flag.Uint64("ablation-runs", 300, "TestAblation: so many runs of each space")
)

// ran is a world, and the result of its run.
type ran struct {
	Seed    uint64
	Space   string
	Classes string        // classes of actions that can occur, known before the run
	Done    bool          // false: the run killed its process
	Cost    time.Duration // processor time
	Kinds   []uint64      // kinds of states and of the allocators' states
	Causes  []string      // signatures of the violations
}

// TestAblation measures the benefit of choosing worlds by what is unseen. Each run is done once.
// Then each policy orders the same runs, repeatedly with the seeds of each class shuffled, and the
// test measures what was seen by the time that the runs took.
func TestAblation(t *testing.T) {
	if *ablation == "" {
		t.Skip("SKIPPED: -ablation DIR, half an hour")
	}
	var all []ran
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 1, ' ', tabwriter.Debug)
	fmt.Fprintln(w, "worlds\tclasses\truns\tpolicy\tkinds after 1/8 of the time\t1/4\t1/2\tcauses after 1/8\t1/4\t1/2")
	for _, name := range space.Names(managers.All()) {
		runs := ranOf(t, name)
		all = append(all, runs...)
		replayed(w, name, runs, func(r *ran) string { return r.Classes })
	}
	replayed(w, "all, by space", all, func(r *ran) string { return r.Space })
	replayed(w, "all, by space and classes", all, func(r *ran) string { return r.Space + " " + r.Classes })
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// ranOf returns the runs of a space: stored ones, and the others.
func ranOf(t *testing.T, name string) (out []ran) {
	t.Helper()
	path := filepath.Join(*ablation, name+".json")
	body, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	next := uint64(1)
	for d := json.NewDecoder(bytes.NewReader(body)); ; {
		var x ran
		if err := d.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if next = x.Seed + 1; x.Done {
			out = append(out, x)
		}
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	for keep := json.NewEncoder(file); next <= *ablationRuns; next++ {
		s, err := space.Draw(managers.All(), name, next)
		if err != nil {
			t.Fatal(err)
		}
		x := ran{Seed: next, Space: name, Classes: space.List(space.ClassesOf(&s.Doc.Spec))}
		if err := keep.Encode(x); err != nil {
			t.Fatal(err)
		}
		before := bench.CPU()
		rep, err := r.Run(t.Context(), s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Logf("%s, seed %d: %v", name, next, err)
			continue
		}
		states, allocators, _ := coverage.Of(rep)
		x.Done, x.Cost, x.Kinds = true, bench.CPU()-before, slices.Concat(states, allocators)
		for _, i := range rep.News() {
			x.Causes = append(x.Causes, finding.SignatureOf(rep, &rep.Violations[i]).String())
		}
		if err := keep.Encode(x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// class is the worlds that cannot be distinguished before they run.
type class struct {
	left []ran
	runs int
	cost time.Duration
	once int // kinds that only one of all runs saw, if that run was of this class
}

// promise estimates the number of new kinds that the next run of a class sees for its time, by Good
// and Turing. It adds one to the kinds that only one run saw, so that a class without a run comes
// first.
func (c *class) promise() float64 {
	if c.runs == 0 {
		return 1e9
	}
	return float64(c.once+1) / c.cost.Seconds()
}

// policy is the weight with which the class of the next world is drawn.
type policy struct {
	name    string
	weight  func(*class) float64
	asDrawn int // one of so many worlds is drawn without weights; 0: none
}

var policies = []policy{
	{"as drawn", (*class).worlds, 0},
	{"each class as often", func(*class) float64 { return 1 }, 0},
	{"each class as long", func(c *class) float64 { return 1 / (c.cost.Seconds() + 0.01) }, 0},
	{"by what is unseen", (*class).promise, 0},
	{"three in four by what is unseen", (*class).promise, 4},
}

// worlds returns the number of remaining worlds: with this weight all worlds have the same probability.
func (c *class) worlds() float64 { return float64(len(c.left)) }

// rounds is the number of times that the seeds are shuffled.
const rounds = 40

// replayed writes a row for each policy: what it has seen, in percent of what all runs see.
func replayed(w io.Writer, name string, runs []ran, classOf func(*ran) string) {
	var total time.Duration
	kinds, causes := map[uint64]bool{}, map[string]bool{}
	for i := range runs {
		total += runs[i].Cost
		for _, k := range runs[i].Kinds {
			kinds[k] = true
		}
		for _, c := range runs[i].Causes {
			causes[c] = true
		}
	}
	marks := []time.Duration{total / 8, total / 4, total / 2}
	for _, p := range policies {
		seen, broke := make([]float64, len(marks)), make([]float64, len(marks))
		for round := range rounds {
			rng := rand.New(rand.NewPCG(uint64(round), 1))
			runs := slices.Clone(runs)
			rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
			c := newCourse(runs, classOf)
			for m, until := range marks {
				for c.spent < until && c.run(p, rng) {
				}
				seen[m] += float64(len(c.seenBy)) / float64(len(kinds)) / rounds
				broke[m] += float64(len(c.causes)) / float64(max(1, len(causes))) / rounds
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s", name, len(newCourse(runs, classOf).classes), len(runs), p.name)
		for _, share := range slices.Concat(seen, broke) {
			fmt.Fprintf(w, "\t%.1f %%", 100*share)
		}
		fmt.Fprintln(w)
	}
}

// course is the runs in the order of a policy.
type course struct {
	classes []*class
	spent   time.Duration
	seenBy  map[uint64]*class // the class of the only run that saw a kind; nil: several runs saw it
	causes  map[string]bool
}

func newCourse(runs []ran, classOf func(*ran) string) *course {
	c := &course{seenBy: map[uint64]*class{}, causes: map[string]bool{}}
	of := map[string]*class{}
	for i := range runs {
		name := classOf(&runs[i])
		if of[name] == nil {
			of[name] = &class{}
		}
		of[name].left = append(of[name].left, runs[i])
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		c.classes = append(c.classes, of[name])
	}
	return c
}

// run does one more run, if there is one.
func (c *course) run(p policy, rng *rand.Rand) bool {
	weight := p.weight
	if p.asDrawn > 0 && rng.IntN(p.asDrawn) == 0 {
		weight = (*class).worlds
	}
	sum := 0.0
	for _, x := range c.classes {
		if len(x.left) > 0 {
			sum += weight(x)
		}
	}
	at := sum * rng.Float64()
	for _, x := range c.classes {
		if len(x.left) == 0 {
			continue
		}
		if at -= weight(x); at < 0 {
			c.takes(x)
			return true
		}
	}
	return false
}

func (c *course) takes(x *class) {
	r := x.left[0]
	x.left = x.left[1:]
	x.runs++
	x.cost += r.Cost
	c.spent += r.Cost
	for _, k := range r.Kinds {
		who, seen := c.seenBy[k]
		switch {
		case !seen:
			c.seenBy[k] = x
			x.once++
		case who != nil:
			c.seenBy[k] = nil
			who.once--
		}
	}
	for _, s := range r.Causes {
		c.causes[s] = true
	}
}
