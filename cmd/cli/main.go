// Package cli is the program ipamsim as a library: its commands, flags, exit codes
// and progress, and nothing else. The main function of a program is one line, Main.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam"
)

// Exit codes: what scripts and CI look at.
const (
	exitExpected  = 0 // every run ended as its scenario says
	exitViolation = 1 // a violation that was not expected, or an expected one that did not happen
	exitCannot    = 2 // nothing was proven: usage, bad input, environment, a limit, an interruption
)

// Main is the whole program with some address managers: it runs the command of os.Args
// and ends the process. The settings of the process are made here, and nowhere else.
func Main(managers ...*ipam.Manager) {
	os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr, managers...))
}

// Run is Main without the process: one command with these arguments, and the exit code.
func Run(args []string, stdout, stderr io.Writer, managers ...*ipam.Manager) int {
	// A reader that has seen enough closes the pipe. The default, death by
	// signal, would leave the directory of the embedded etcd behind.
	signal.Ignore(syscall.SIGPIPE)
	root := &cobra.Command{
		Use:           "ipamsim",
		Short:         "the real code of IP address managers in a deterministic simulation",
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(stderr)
			_ = cmd.Help()
			return &exit{code: exitCannot}
		},
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(commands(managers)...)
	err := root.Execute()
	if err == nil {
		return exitExpected
	}
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{exitCannot, err}
	}
	if e.err != nil && !errors.Is(e.err, syscall.EPIPE) {
		fmt.Fprintln(stderr, message(e.err))
	}
	return e.code
}

// commands are all there are.
func commands(m scenarios.Managers) []*cobra.Command {
	return []*cobra.Command{
		bisectCommand(m),
		calibrateCommand(m),
		servedCommand(m),
		corpusCommand(m),
		exploreCommand(m),
		findingCommand(m),
		gateWorkerCommand(m),
		gateCommand(m),
		goCommand(),
		importCommand(m),
		initCommand(m),
		matrixCommand(m),
		planCommand(m),
		replayCommand(m),
		reportCommand(),
		runCommand(m),
		schemaCommand(m),
		serveCommand(m),
		stepCommand(),
		verifyCommand(m),
		verifyWorkerCommand(m),
		versionCommand(m),
		workerCommand(m),
	}
}

// exit is how a command ends that does not end with 0. err is nil if everything
// was said already.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return fmt.Sprintf("exit %d: %v", e.code, e.err) }
func (e *exit) Unwrap() error { return e.err }

// message is an error on one line, or on one for each bad file. One about a scenario file begins with file
// and line, as editors like it.
func message(err error) string {
	var files *badFiles
	if errors.As(err, &files) {
		return files.Error()
	}
	var bad *strict.Error
	if errors.As(err, &bad) {
		return reports.Clean(bad.Error())
	}
	return "ipamsim: " + reports.Clean(strings.Join(strings.Fields(err.Error()), " "))
}
