package importing

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/scenarios"
)

// session is one import: a context that ends with Ctrl-C, a runner, and the outputs.
type session struct {
	*progress
	ctx     context.Context
	cmd     *cobra.Command
	runner  *scenarios.Runner
	out     *outfile.File // the file of the scenario; nil: the standard output
	written bool          // the scenario was written
	whole   bool          // everything was written
}

// during does work until it ends or is interrupted. An interrupted import leaves no partial
// files.
func during(cmd *cobra.Command, out *outfile.File, more importFiles, work func(*session) error) error {
	runner, err := scenarios.NewRunner()
	if err != nil {
		return err
	}
	closeOnce := sync.OnceValue(runner.Close)
	discard := sync.OnceFunc(func() { out.Discard(); more.discard() })
	ctx, stop := exit.Interruptible(cmd.ErrOrStderr(), func() { discard(); _ = closeOnce() })
	defer stop()
	defer discard()
	s := &session{progress: report(cmd.ErrOrStderr()), ctx: ctx, cmd: cmd, runner: runner, out: out}
	err = work(s)
	s.end()
	if ctx.Err() != nil && !s.whole {
		left := "nothing was written"
		if s.written {
			left = "only the scenario was written"
		}
		err = fmt.Errorf("import: interrupted while %s: %s", s.doing(), left)
	}
	if closed := closeOnce(); err == nil {
		err = closed
	}
	return err
}
