package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ipamsim/fuzz/campaign"
	"ipamsim/fuzz/cell"
	"ipamsim/fuzz/gate"
	"ipamsim/scenarios"
)

// cellCommand is what a worker starts for itself: the process in which runs take
// place.
func cellCommand(m scenarios.Managers) *cobra.Command {
	return &cobra.Command{
		Use:    "cell DIR",
		Short:  "run what a worker asks for (workers start it themselves)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ignoreInterrupts() // those of a terminal reach the coordinator, too, which lets workers bring what they have
			scenarios.Tune()
			in, out := cell.Files()
			return campaign.ServeCell(context.Background(), m, whileAnybodyAsks(in, args[0]), out, args[0])
		},
	}
}

// gateCellCommand is the same for a gate.
func gateCellCommand(m scenarios.Managers) *cobra.Command {
	return &cobra.Command{
		Use:    "gate-cell DIR",
		Short:  "run what a gate asks for (gates start it themselves)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ignoreInterrupts() // they reach the gate, which ends this process
			scenarios.Tune()
			in, out := cell.Files()
			return gate.ServeCell(context.Background(), m, whileAnybodyAsks(in, args[0]), out, args[0])
		},
	}
}

// whileAnybodyAsks ends the process as soon as its worker is gone.
func whileAnybodyAsks(in io.Reader, dir string) io.Reader {
	return cell.WhileAnybodyAsks(in, func() {
		_ = os.RemoveAll(dir)
		os.Exit(exitExpected)
	})
}
