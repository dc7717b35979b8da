package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/fuzz/campaign/worker"
	"ipamsim/fuzz/gate"
	"ipamsim/fuzz/process"
	"ipamsim/fuzz/verify"
	"ipamsim/scenarios"
)

// servedCommand is what a worker starts for itself.
func servedCommand(m scenarios.Managers) *cobra.Command {
	return servesWorker("worker-process", "internal: run work for a worker", m, worker.Serve)
}

// gateWorkerCommand is the same for a gate.
func gateWorkerCommand(m scenarios.Managers) *cobra.Command {
	return servesWorker("gate-process", "internal: run work for a gate", m, gate.ServeWorker)
}

// verifyWorkerCommand is the same for verify.
func verifyWorkerCommand(m scenarios.Managers) *cobra.Command {
	return servesWorker("verify-process", "internal: run work for verify", m, verify.ServeWorker)
}

// servesWorker is the process in which runs take place that another one asks for. Interrupts
// of a terminal reach that one, too, which lets this one bring what it has, or ends it.
func servesWorker(name, short string, m scenarios.Managers, serve func(ctx context.Context, m scenarios.Managers, in io.Reader, out io.Writer, dir string) error) *cobra.Command {
	return &cobra.Command{
		Use:    name + " DIR",
		Short:  short,
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			exit.IgnoreInterrupts()
			scenarios.Tune()
			return process.Run(args[0], func() { os.Exit(exit.Expected) }, func(in io.Reader, out io.Writer) error {
				return serve(context.Background(), m, in, out, args[0])
			})
		},
	}
}
