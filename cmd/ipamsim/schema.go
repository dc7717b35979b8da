package main

import (
	"github.com/spf13/cobra"

	"ipamsim/scenarios"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of scenario files",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := scenarios.Schema()
			if err != nil {
				return err
			}
			if n := len(b); n > 0 && b[n-1] != '\n' {
				b = append(b, '\n')
			}
			_, err = cmd.OutOrStdout().Write(b)
			return err
		},
	}
}
