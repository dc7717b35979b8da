package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ipamsim/fuzz/campaign"
	"ipamsim/fuzz/cell"
	"ipamsim/fuzz/gate"
	"ipamsim/fuzz/verify"
	"ipamsim/scenarios"
)

// cellCommand is what a worker starts for itself.
func cellCommand(m scenarios.Managers) *cobra.Command {
	return servesCell("cell", "run what a worker asks for (workers start it themselves)", m, campaign.ServeCell)
}

// gateCellCommand is the same for a gate.
func gateCellCommand(m scenarios.Managers) *cobra.Command {
	return servesCell("gate-cell", "run what a gate asks for (gates start it themselves)", m, gate.ServeCell)
}

// verifyCellCommand is the same for verify.
func verifyCellCommand(m scenarios.Managers) *cobra.Command {
	return servesCell("verify-cell", "run what verify asks for (verify starts it itself)", m, verify.ServeCell)
}

// servesCell is the process in which runs take place that another one asks for. Interrupts
// of a terminal reach that one, too, which lets this one bring what it has, or ends it.
func servesCell(name, short string, m scenarios.Managers, serve func(ctx context.Context, m scenarios.Managers, in io.Reader, out io.Writer, dir string) error) *cobra.Command {
	return &cobra.Command{
		Use:    name + " DIR",
		Short:  short,
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ignoreInterrupts()
			scenarios.Tune()
			return cell.Run(args[0], func() { os.Exit(exitExpected) }, func(in io.Reader, out io.Writer) error {
				return serve(context.Background(), m, in, out, args[0])
			})
		},
	}
}
