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

// Environment variables of a go test, which the commands printed for failures set.
const (
	// SeedEnv makes Run run this seed only.
	SeedEnv = "IPAMSIM_SEED"
	// ReplayEnv makes Run and Explore replay this finding instead of their file.
	ReplayEnv = "IPAMSIM_REPLAY"
)

// Run runs the scenario of a file, with its own seed or with each of the given seeds. The test fails if a
// run does not end as the file expects: without spec.expect, no invariant may be violated. Run prints the
// most severe violation with its timeline, and the command that repeats the run.
//
// A finding, which is a file with a recorded schedule, is replayed: the test fails if the replay does not
// reproduce the recorded run.
//
// Runs use the store in memory. A run with a violation is repeated on etcd, which decides.
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
			return // other seeds would show little more
		}
	}
}

// bench is the environment for the runs of one test.
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

// run executes one run: on etcd, if it has a violation.
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
		b.t.Fatalf("%s: a scenario, not a finding: it has no spec.schedule", file)
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

// stock returns a note if the build uses Go's own runtime.
func stock() string {
	if hermetic.Enabled {
		return ""
	}
	return "; this build is on Go's own runtime, where runs need not repeat"
}

// story returns a run on one line, the timeline of a violation, if there is one, and the command that
// repeats the run.
func (b *bench) story(rep *reports.Report, v *model.Violation, env string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", reports.Line(rep))
	if v != nil {
		fmt.Fprintf(&out, "\n%s", timeline.Story(rep, v))
	}
	fmt.Fprintf(&out, "   reproduce: %s%s", b.again(env), stock())
	return out.String()
}

// again returns a command that runs this test in this directory, with a variable set.
func (b *bench) again(env string) string {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return fmt.Sprintf("cd %s && %s go run ipamsim/cmd/hermetic go test -v -run %s .", reports.Shell(dir), env, pattern(b.t.Name()))
}

// pattern returns the -run argument for one test: subtests are matched level by level.
func pattern(test string) string {
	return "'^" + strings.ReplaceAll(test, "/", "$/^") + "$'"
}
