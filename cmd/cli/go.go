package cli

import (
	"os"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/sim/hermetic/overlay"
)

func goCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "go VERB …",
		Short: "run the go command with the deterministic (hermetic) Go runtime",
		Long: `Run the go command in a module that uses ipamsim, so that a run of the built program is
a function of its seed: with the overlay of Go's runtime, the build tag hermetic,
CGO_ENABLED=0 and, for go test, -count=1. Other flags are passed on unchanged.

Without ipamsim installed, use

  go run ipamsim/cmd/hermetic go VERB …

Exit: that of the go command · 2 the go command could not run.`,
		Example:            "  ipamsim go test ./...\n  ipamsim go build -o bin/ipamsim ./cmd/ipamsim",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if code := overlay.Run(args, os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()); code != exit.Expected {
				return &exit.Error{Code: code}
			}
			return nil
		},
	}
}
