package ipamsimtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
)

// Search limits an exploration. The zero value is usable.
type Search struct {
	// Runs is the number of seeds to run, from 1 on; default 200.
	Runs uint64
	// Time is the wall-clock time after which no further seed is run; default 1 minute. Failures that
	// were found are then still shrunk, which takes at most 20 seconds each.
	Time time.Duration
	// Strategy decides the schedules, with the names of ipamsim explore --strategy. The default is
	// "portfolio", several in turn; for ExploreSpace it is the strategy in each scenario.
	Strategy string
	// Dir is the directory for findings; default testdata/findings.
	Dir string
	// Only are the invariants to search for; default: all that the scenario does not expect.
	Only []string
	// Kinds is the number of kinds of failures after which the search ends; default 10.
	Kinds int
}

func (o Search) orDefault() Search {
	o.Runs = cmp.Or(o.Runs, 200)
	if o.Time == 0 {
		o.Time = time.Minute
	}
	o.Kinds = cmp.Or(o.Kinds, 10)
	if o.Dir == "" {
		o.Dir = filepath.Join("testdata", "findings")
	}
	return o
}

// Found is one kind of failure that Explore found and shrank.
type Found struct {
	Invariant string
	Seed      uint64 // of the run in which it was found
	Runs      uint64 // number of runs until then
	File      string // the finding: a scenario with the schedule that fails, which Run replays
	// Pods, Nodes, Switches, Faults and Steps are the size of the finding.
	Pods, Nodes, Switches, Faults, Steps int
	// Story is the timeline, with the command that replays the file.
	Story string
}

func (f Found) String() string { return f.Story }

// Explore runs the scenario of a file under many schedules and returns each kind of failure once, in the
// order in which they were found. Scenario and schedule are shrunk together, until neither gets
// smaller. Each finding is written to a file, which is replayed before Explore returns.
//
// Explore does not fail the test: call t.Error for the elements of the result. With Go's own runtime, where
// runs do not repeat, the test is skipped.
func Explore(t *testing.T, m *ipam.Manager, file string, o Search) []Found {
	t.Helper()
	b := searcher(t, m)
	if b == nil {
		return nil
	}
	s := b.load(file)
	o = o.orDefault()
	return b.search(o, func(seed uint64) (*scenarios.Scenario, scenarios.Options) {
		return s, scenarios.Options{Seed: &seed, Strategy: cmp.Or(o.Strategy, "portfolio")}
	})
}

// ExploreSpace is Explore for generated scenarios: run N runs scenario N of the manager's space (see
// space.Space), with the strategy in the scenario or that of the search.
func ExploreSpace(t *testing.T, m *ipam.Manager, o Search) []Found {
	t.Helper()
	b := searcher(t, m)
	if b == nil {
		return nil
	}
	from := spaceOf(t, m)
	return b.search(o.orDefault(), func(seed uint64) (*scenarios.Scenario, scenarios.Options) {
		s, err := from.World(b.managers, space.FromSeed(seed), seed)
		if err != nil {
			t.Fatalf("space %s, seed %d: %v", from.Name, seed, err)
		}
		return s, scenarios.Options{Strategy: o.Strategy}
	})
}

// searcher returns the bench for a search. It returns nil if the test was asked for a replay, which
// it executes.
func searcher(t *testing.T, m *ipam.Manager) *bench {
	t.Helper()
	b := begin(t, m)
	if replay := os.Getenv(ReplayEnv); replay != "" {
		b.replay(replay)
		return nil
	}
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs runs that repeat: go run ipamsim/cmd/hermetic go test")
	}
	return b
}

// search runs the scenario of each seed until a limit is reached.
func (b *bench) search(o Search, of func(seed uint64) (*scenarios.Scenario, scenarios.Options)) (out []Found) {
	b.t.Helper()
	began, seen := time.Now(), map[finding.Signature]bool{}
	for seed := uint64(1); seed <= o.Runs && len(out) < o.Kinds && time.Since(began) < o.Time; seed++ {
		s, with := of(seed)
		with.Store = scenarios.Memory
		rep, err := b.runner.Run(b.ctx, s, with)
		if err != nil {
			b.t.Fatalf("%s, seed %d: %v", s.File, seed, err)
		}
		for i := range rep.Violations {
			v := &rep.Violations[i]
			if sig := finding.SignatureOf(rep, v); len(out) < o.Kinds && unexpected(s, v) && wanted(o.Only, v) && !seen[sig] {
				seen[sig] = true
				f := b.shrunk(s, rep, v, o.Dir)
				f.Seed, f.Runs = rep.Seed, seed
				out = append(out, f)
			}
		}
	}
	return out
}

// unexpected reports whether the scenario neither expects nor allows the violation.
func unexpected(s *scenarios.Scenario, v *model.Violation) bool {
	e := s.Doc.Spec.Expect
	return e == nil || !slices.Contains(e.Violations, v.Invariant) && !slices.Contains(e.May, v.Invariant)
}

func wanted(only []string, v *model.Violation) bool {
	return len(only) == 0 || slices.Contains(only, v.Invariant)
}

// shrunk makes a failure small and keeps it.
func (b *bench) shrunk(s *scenarios.Scenario, rep *reports.Report, v *model.Violation, dir string) Found {
	b.t.Helper()
	f, err := shrink.Shrink(b.ctx, b.runner, s, rep, v, shrink.Options{Samples: -1})
	if err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(dir, finding.File(f.Fingerprint))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, f.YAML, 0o666); err != nil {
		b.t.Fatal(err)
	}
	small := b.load(path)
	again, err := b.runner.Run(b.ctx, small, scenarios.Options{Recorded: true})
	if err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
	first := f.In(again)
	if first == nil || again.Digest != small.Doc.Spec.Schedule.Digest {
		b.t.Fatalf("%s: does not replay: %s", path, reports.Line(again))
	}
	return Found{
		Invariant: f.Invariant, File: path,
		Pods: f.Pods, Nodes: f.Nodes, Switches: f.Switches, Faults: f.Faults, Steps: f.Steps,
		Story: b.story(again, first, ReplayEnv+"="+reports.Shell(path)),
	}
}

// Summary is what was found on one line each: the invariant, after how many runs, what is
// left, and the file.
func Summary(all []Found) string {
	var out strings.Builder
	for _, f := range all {
		fmt.Fprintf(&out, "%s after %d runs; shrunk: %d pods, %d switches, %d faults, %d steps; %s\n",
			f.Invariant, f.Runs, f.Pods, f.Switches, f.Faults, f.Steps, f.File)
	}
	return out.String()
}
