package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/running"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam"
)

// DemoCommand runs a scenario of the library that one of the managers names: the shortest
// way to a failure. It needs much less of the program than the command run, and is also
// built by itself (cmd/demo).
func DemoCommand(m scenarios.Managers) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "run a public bug report and print what happened",
		Long: `Run a public bug report from the library with the code of its address manager,
and print the events that lead to the failure.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i := slices.IndexFunc(m, func(m *ipam.Manager) bool { return m.Demo != "" })
			if i < 0 {
				return errors.New("no manager of this program has a demo; ipamsim scenarios list")
			}
			s, err := m.Load(m[i].Demo)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "ipamsim: 1 run of %s\n", s.Name())
			return running.With(cmd, func(ctx context.Context, runner *scenarios.Runner) error {
				rep, err := runner.Run(ctx, s, scenarios.Options{})
				if err != nil {
					return err
				}
				return demonstrate(cmd, rep)
			})
		},
	}
}

// demonstrate prints a run and the events that lead to its violation.
func demonstrate(cmd *cobra.Command, rep *reports.Report) error {
	text := reports.Line(rep) + reports.NotHappened(rep) + "\n"
	if v := rep.Gravest(); v != nil {
		text += "\n" + strings.TrimSuffix(timeline.Of(rep, v), "\n") + "\n" + reports.Also(rep, v) + "\n"
	}
	if _, err := fmt.Fprint(cmd.OutOrStdout(), text); err != nil {
		return err
	}
	if !rep.AsExpected() {
		return &exit.Error{Code: exit.Violation}
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), demoNext, rep.Scenario)
	return err
}

const demoNext = `
Next:
  ipamsim run %[1]s --seeds 1-100     in how many of 100 schedules does it happen?
  ipamsim run %[1]s --html run.html   the run as a page
  ipamsim scenarios show %[1]s        the scenario: save, change and run it
  ipamsim scenarios list                          everything else in the library
  ipamsim import --help                           find such failures in your own cluster
`
