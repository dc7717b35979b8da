// Package library has the commands about the scenarios that are part of the program.
package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/outfile"
	"ipamsim/reports/table"
	"ipamsim/scenarios"
)

// Run makes the command run.
type Run func(scenarios.Managers) *cobra.Command

// Command shows the library that is part of the program.
func Command(m scenarios.Managers, run Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "list, show and run the scenarios in the program",
		Long: `The library of scenarios is part of the program. Every command that takes the
file of a scenario or plan also takes a name from the library.`,
		Example: `  ipamsim scenarios list duplicate-address
  ipamsim scenarios show NAME > mine.yaml
  ipamsim scenarios run NAME --seeds 1-100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c := run(m)
	c.Use, c.Example = "run NAME… | --all", "  ipamsim scenarios run NAME --seeds 1-100"
	cmd.AddCommand(listCommand(m), showCommand(), c)
	return cmd
}

func listCommand(m scenarios.Managers) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "list [WORD…]",
		Short: "list scenarios whose name, manager, title or invariants contain every WORD",
		RunE: func(cmd *cobra.Command, words []string) error {
			var found []scenarios.Listed
			for _, folder := range []string{"", scenarios.Families, scenarios.Plans} {
				for _, s := range m.Library(folder) {
					if s.Name = path.Join(folder, s.Name); matches(s, words) {
						found = append(found, s)
					}
				}
			}
			if len(found) == 0 {
				return errors.New("no scenario matches all words; ipamsim scenarios list lists all")
			}
			if file == "-" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			if file != "" {
				return outfile.WriteTo("json", file, func(w io.Writer) error { return json.NewEncoder(w).Encode(found) })
			}
			t := table.New("name", "manager", "violates", "title")
			for _, s := range found {
				t.Add(s.Name, s.Manager, strings.Join(s.Violates, ", "), s.Title)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), t.Text())
			return err
		},
	}
	cmd.Flags().StringVar(&file, "json", "", "write the list as JSON to `F`, or - for stdout")
	return cmd
}

// matches reports whether each word occurs in one of the fields, in any case.
func matches(s scenarios.Listed, words []string) bool {
	text := strings.ToLower(strings.Join(append(slices.Clone(s.Violates), s.Name, s.Manager, s.Title), "\n"))
	for _, w := range words {
		if !strings.Contains(text, strings.ToLower(w)) {
			return false
		}
	}
	return true
}

func showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "print a scenario of the library",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := scenarios.ReadFile(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}
