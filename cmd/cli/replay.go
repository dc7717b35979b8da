package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/running"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

func replayCommand(m scenarios.Managers) *cobra.Command {
	p, other := &work{replay: true}, false
	cmd := &cobra.Command{
		Use:   "replay FINDING…",
		Short: "replay recorded findings",
		Long: `Replay recorded findings. A finding is a scenario file that contains a schedule.

Exit: 0 every finding reproduced as recorded (the same violations and digest) ·
1 one was not · 2 could not run, or one was recorded with another upstream than
that of this binary (ipamsim version).`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 {
				return errors.New("nothing to replay: name the files of findings")
			}
			all, err := running.Load(m, files)
			if err != nil {
				return err
			}
			for _, s := range all {
				j, err := recorded(s, other)
				if err != nil {
					return err
				}
				j.options.Recording = p.outputs.film()
				p.jobs = append(p.jobs, j)
			}
			if err := p.outputs.check(all); err != nil {
				return err
			}
			if err := p.outputs.single(p.runs()); err != nil {
				return err
			}
			return execute(cmd, p)
		},
	}
	cmd.Flags().StringVar(&p.outputs.json, "json", "", "write every run as a line of JSON to `F`, or - for stdout")
	cmd.Flags().StringVar(&p.outputs.trace, "trace", "", "write the schedule log of every run to `F`")
	otherUpstream(cmd.Flags(), &other)
	p.outputs.addOfOne(cmd.Flags())
	return cmd
}

// recorded is the run that a finding holds; other: of whatever upstream.
func recorded(s *scenarios.Scenario, other bool) (job, error) {
	rec := s.Doc.Spec.Schedule
	if rec == nil {
		return job{}, &strict.Error{File: s.File, Field: "spec.schedule", Problem: "missing: this is a scenario, not a finding; use ipamsim run"}
	}
	j := job{scenario: s, from: rec.Seed, to: rec.Seed, options: scenarios.Options{Recorded: true}}
	if other {
		return j, nil
	}
	return j, sameUpstream(s)
}

// sameUpstream refuses a finding about another upstream than this binary is built
// with: that nothing breaks here would say nothing about it.
func sameUpstream(s *scenarios.Scenario) error {
	rec := s.Doc.Spec.Schedule
	if rec == nil || rec.Upstream == s.Upstream() {
		return nil
	}
	return &strict.Error{File: s.File, Field: "spec.schedule.upstream", Problem: fmt.Sprintf(
		"recorded with %s, but this binary has %s; build with the recorded one (make build FORK=…), or compare both: ipamsim gate --findings DIR", rec.Upstream, s.Upstream())}
}

// comparison is how a replay compares with its record, for people. A nil one is
// that of an ordinary run.
type comparison struct {
	same bool
	text string
}

// compareRecorded compares a replay with its record. A schedule that no longer fits is a result, too;
// every other error is returned.
func compareRecorded(s *scenarios.Scenario, rep *reports.Report, err error) (*comparison, error) {
	rec := s.Doc.Spec.Schedule
	var differs []string
	if err != nil {
		if !errors.Is(err, strategy.ErrDiverged) {
			return nil, err
		}
		differs = append(differs, err.Error())
	}
	var got, want []string
	for _, v := range rep.Violations {
		got = append(got, v.Invariant)
	}
	if s.Doc.Spec.Expect != nil {
		want = slices.Clone(s.Doc.Spec.Expect.Violations)
	}
	if got, want = set(got), set(want); !slices.Equal(got, want) {
		differs = append(differs, fmt.Sprintf("violated: %s; recorded: %s", listed(got), listed(want)))
	}
	if rep.Digest != rec.Digest {
		differs = append(differs, fmt.Sprintf("digest %s; recorded: %s", rep.Digest, rec.Digest))
	}
	c := &comparison{same: len(differs) == 0, text: "reproduced as recorded"}
	if !c.same {
		c.text = "NOT reproduced: " + strings.Join(differs, "; ")
		if !hermetic.Enabled {
			c.text += "; this build uses the stock Go runtime, where runs may differ"
		}
	}
	c.text = reports.Clean(c.text)
	return c, nil
}

func set(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
