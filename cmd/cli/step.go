package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"ipamsim/sim/attach"
)

func stepCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "step [N]",
		Short: "continue a run of ipamsim serve --hold for N steps (default 1)",
		Long: `Continue a run of ipamsim serve --hold for N steps (default 1), and print where it
pauses.

Exit: 0 the run is paused again · 2 it is not, or there is no server.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 1
			if len(args) > 1 {
				return errors.New("want one number of steps")
			}
			if len(args) == 1 {
				var err error
				if n, err = stepsOf(args[0]); err != nil {
					return err
				}
			}
			path := cmp.Or(file, os.Getenv("KUBECONFIG"))
			if path == "" {
				return errors.New("--kubeconfig: want the file that ipamsim serve printed; KUBECONFIG is not set either")
			}
			where, err := attach.Step(cmd.Context(), path, n)
			if err == nil {
				_, err = fmt.Fprint(cmd.OutOrStdout(), where)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&file, "kubeconfig", "", "the `file` that ipamsim serve printed (default: $KUBECONFIG)")
	return cmd
}

// stepsOf reads how many steps a run is to go on for.
func stepsOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > attach.StepsMax {
		return 0, fmt.Errorf("want a number of steps, 1 to %d, have %q", attach.StepsMax, text)
	}
	return n, nil
}
