// Package processes is the command that lists what a scenario can kill, pause and terminate.
package processes

import (
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/running"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// Command runs a scenario once, by its own seed, and prints the names of its processes.
func Command(m scenarios.Managers) *cobra.Command {
	return &cobra.Command{
		Use:   "processes FILE",
		Short: "list the processes that a scenario can kill, pause or terminate",
		Long: `Run a scenario once with its own seed, and print the names of its processes, one per
line: those of the address manager, of Kubernetes' control plane, and kubelets.

Use a name as the actor of kill, pause and terminate. It refers to the process with that
name at that time: a restarted daemon keeps its name.`,
		Args:    cobra.ExactArgs(1),
		Example: `  ipamsim processes scenarios/NAME.yaml`,
		RunE: func(cmd *cobra.Command, files []string) error {
			loaded, err := running.Load(m, files)
			if err != nil {
				return err
			}
			r, err := scenarios.NewRunner()
			if err != nil {
				return err
			}
			end := sync.OnceFunc(func() { _ = r.Close() })
			defer end()
			ctx, stop := exit.Interruptible(cmd.ErrOrStderr(), end)
			defer stop()
			var names []string
			if _, err := r.Run(ctx, loaded[0], scenarios.Options{End: func(c *cluster.Cluster) { names = c.Killable(c.World.Spawned()) }}); err != nil {
				return err
			}
			for _, n := range names {
				fmt.Fprintln(cmd.OutOrStdout(), n)
			}
			return nil
		},
	}
}
