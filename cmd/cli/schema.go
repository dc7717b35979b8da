package cli

import (
	"bytes"
	"fmt"
	"github.com/spf13/cobra"

	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
)

func schemaCommand(m scenarios.Managers) *cobra.Command {
	return &cobra.Command{
		Use:       "schema [scenario | plan]",
		Short:     "print the JSON Schema of scenario files, or of plans",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"scenario", "plan"},
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := m.Schema()
			if len(args) == 1 && args[0] == "plan" {
				b, err = plan.Schema(m)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", bytes.TrimSuffix(b, []byte("\n")))
			return err
		},
	}
}
