package ipamsimtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// Environment variables of one go test, which the commands that a failure prints set.
const (
	// SeedEnv has Run run this seed only.
	SeedEnv = "IPAMSIM_SEED"
	// ReplayEnv has Run and Explore replay this finding instead of their file.
	ReplayEnv = "IPAMSIM_REPLAY"
)

// Run runs the scenario of a file, once as it says itself or, if seeds are given, once
// with each of them. The test fails if a run does not end as the file expects: a file
// without spec.expect expects that no invariant is violated. It prints the gravest
// violation with its timeline, and the command that shows this run again.
//
// A file that holds a recorded schedule, a finding, is replayed: the test fails if that
// does not reproduce what was recorded.
//
// Runs take place on the store in memory, and what breaks there once more on etcd, which
// is the judge.
func Run(t *testing.T, m *ipam.Manager, file string, seeds ...uint64) {
	t.Helper()
	b := begin(t, m)
	if replay := os.Getenv(ReplayEnv); replay != "" {
		b.replay(replay)
		return
	}
	s := b.load(file)
	if s.Doc.Spec.Schedule != nil {
		b.replay(file)
		return
	}
	if only := os.Getenv(SeedEnv); only != "" {
		seed, err := strconv.ParseUint(only, 10, 64)
		if err != nil {
			t.Fatalf("%s=%s: want a whole number", SeedEnv, only)
		}
		seeds = []uint64{seed}
	}
	if len(seeds) == 0 {
		seeds = []uint64{s.Seed()}
	}
	for _, seed := range seeds {
		if rep := b.run(s, scenarios.Options{Seed: &seed}); !rep.AsExpected() {
			t.Error(b.story(rep, rep.Gravest(), fmt.Sprintf("%s=%d", SeedEnv, seed)))
			return // the others say little that this one does not
		}
	}
}

// bench is where the runs of one test take place.
type bench struct {
	t        testing.TB
	ctx      context.Context
	managers scenarios.Managers
	runner   *scenarios.Runner
}

func begin(t testing.TB, m *ipam.Manager) *bench {
	t.Helper()
	return &bench{t: t, ctx: t.Context(), managers: scenarios.Managers{m}, runner: scenariotest.Open(t)}
}

func (b *bench) load(file string) *scenarios.Scenario {
	b.t.Helper()
	s, err := b.managers.Load(file)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// run is one run that was judged: on etcd, if anything is violated.
func (b *bench) run(s *scenarios.Scenario, o scenarios.Options) *reports.Report {
	b.t.Helper()
	o.Store = scenarios.Memory
	rep, err := b.runner.Run(b.ctx, s, o)
	if err == nil && len(rep.Violations) > 0 && hermetic.Enabled {
		rep, err = b.runner.Confirm(b.ctx, s, o, rep)
	}
	switch {
	case err != nil:
		b.t.Fatalf("%s: %v", s.File, err)
	case rep.Verdict == reports.Unknown:
		b.t.Fatalf("%s, seed %d: cut short, which proves nothing: %s", s.File, rep.Seed, rep.Reason)
	}
	return rep
}

// replay follows the recorded schedule of a finding.
func (b *bench) replay(file string) {
	b.t.Helper()
	s := b.load(file)
	rec := s.Doc.Spec.Schedule
	if rec == nil {
		b.t.Fatalf("%s: a scenario, and no finding: it holds no spec.schedule", file)
	}
	rep, err := b.runner.Run(b.ctx, s, scenarios.Options{Recorded: true})
	switch {
	case errors.Is(err, strategy.ErrDiverged):
		b.t.Errorf("%s: NOT reproduced: %v", file, err)
	case err != nil:
		b.t.Fatalf("%s: %v", file, err)
	case rep.Digest != rec.Digest || !rep.AsExpected():
		b.t.Errorf("%s: NOT reproduced: %s; digest %s, recorded %s%s", file, reports.Line(rep), rep.Digest, rec.Digest, stock())
	default:
		b.t.Logf("%s: reproduced as recorded\n%s", file, b.story(rep, rep.Gravest(), ReplayEnv+"="+reports.Shell(file)))
	}
}

// stock says that a build is on Go's own runtime, if it is.
func stock() string {
	if hermetic.Enabled {
		return ""
	}
	return "; this build is on Go's own runtime, where runs need not repeat"
}

// story is a run on one line, how a violation of it came about, if there is one, and the
// command that shows it again.
func (b *bench) story(rep *reports.Report, v *model.Violation, env string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", reports.Line(rep))
	if v != nil {
		fmt.Fprintf(&out, "\n%s", timeline.Story(rep, v))
	}
	fmt.Fprintf(&out, "   reproduce: %s%s", b.again(env), stock())
	return out.String()
}

// again is a command line that runs this test in this folder, with a variable set.
func (b *bench) again(env string) string {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return fmt.Sprintf("cd %s && %s go run ipamsim/cmd/hermetic go test -v -run %s .", reports.Shell(dir), env, pattern(b.t.Name()))
}

// pattern is the -run of one test: subtests are matched level by level.
func pattern(test string) string {
	return "'^" + strings.ReplaceAll(test, "/", "$/^") + "$'"
}
