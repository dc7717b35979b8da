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
		Short: "the go command on the runtime on which a run is a function of its seed",
		Long: `Run the go command in any module that uses ipamsim, so that what it builds is a
function of its seed: with the overlay of Go's runtime, the build tag hermetic,
CGO_ENABLED=0 and, for go test, -count=1. Flags of yours stay as they are.

Without ipamsim installed, the same is

  go run ipamsim/cmd/hermetic go VERB …

Exit: as the go command · 2 it could not be run.`,
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
