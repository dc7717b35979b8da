// Package cli is the program ipamsim as a library: its commands, flags, exit codes
// and progress, and nothing else. The main function of a program is one line, Main.
package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/importing"
	"ipamsim/cmd/cli/library"
	"ipamsim/cmd/cli/planning"
	"ipamsim/cmd/cli/processes"
	"ipamsim/cmd/cli/reference"
	"ipamsim/cmd/cli/regression"
	"ipamsim/cmd/cli/search"
	"ipamsim/cmd/cli/workers"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam"
)

// Main is the whole program with some address managers: it runs the command of os.Args
// and ends the process. The settings of the process are made here, and nowhere else.
func Main(managers ...*ipam.Manager) {
	if args, ok := importing.PluginArgs(os.Args); ok {
		os.Exit(Run(args, os.Stdout, os.Stderr, managers...))
	}
	os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr, managers...))
}

// Run is Main without the process: one command with these arguments, and the exit code.
func Run(args []string, stdout, stderr io.Writer, managers ...*ipam.Manager) int {
	// A reader that has seen enough closes the pipe. The default, death by
	// signal, would leave the directory of the embedded etcd behind.
	signal.Ignore(syscall.SIGPIPE)
	root := Root(managers...)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return exit.CodeOf(root.Execute(), stderr)
}

// Root returns the command of the program with all commands below it.
func Root(managers ...*ipam.Manager) *cobra.Command {
	root := &cobra.Command{
		Use:           "ipamsim",
		Short:         "a deterministic simulator for Kubernetes IP address management",
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(cmd.ErrOrStderr())
			_ = cmd.Help()
			return &exit.Error{Code: exit.Cannot}
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(commands(managers)...)
	root.AddCommand(reference.Command(root))
	return root
}

// commands are all there are.
func commands(m scenarios.Managers) []*cobra.Command {
	return []*cobra.Command{
		regression.BisectCommand(m),
		planning.CalibrateCommand(m),
		servedCommand(m),
		search.CorpusCommand(m),
		library.DemoCommand(m),
		search.Command(m),
		search.FindingCommand(m),
		gateWorkerCommand(m),
		regression.GateCommand(m),
		goCommand(),
		importing.Command(m, release),
		initCommand(m),
		regression.MatrixCommand(m),
		planning.Command(m),
		processes.Command(m),
		replayCommand(m),
		reportCommand(),
		runCommand(m),
		library.Command(m, runCommand),
		schemaCommand(m),
		serveCommand(m),
		stepCommand(),
		verifyCommand(m),
		verifyWorkerCommand(m),
		versionCommand(m),
		workers.Command(m),
	}
}
