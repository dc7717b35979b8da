package importing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/running"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/diagnosis"
)

// actFor is how long remedies are acted out if nobody says otherwise.
const actFor = time.Minute

// prove acts out what would mend the findings, and says meanwhile how far it is.
func (f *importFlags) prove(cmd *cobra.Command, s *scenarios.Scenario, v *scenarios.View, found *diagnosis.Findings) error {
	if len(found.All)+len(found.Borrowed) == 0 {
		return nil
	}
	stderr := cmd.ErrOrStderr()
	last := time.Time{}
	bound := diagnosis.Bound{Wall: f.act, Progress: func(problem, of int) {
		if now := time.Now(); now.Sub(last) > time.Second {
			last = now
			fmt.Fprintf(stderr, "ipamsim: acting out what would mend it, %d of %d, for at most %s (--act)\n", problem, of, f.act)
		}
	}}
	return running.With(cmd, func(ctx context.Context, r *scenarios.Runner) error {
		within, cancel := context.WithTimeout(ctx, f.act)
		defer cancel()
		if err := found.Prove(within, r, s, v, bound); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errors.New("import: interrupted")
		}
		return nil
	})
}
