package planning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/scenarios/calibrate"
)

// backtestFlags are those of plan --backtest.
type backtestFlags struct {
	on    bool
	split part
}

// part is a flag's value: how much of the time is for calibration.
type part float64

// Less or more leaves nothing to calibrate on, or to compare with.
const LeastPart, MostPart = 0.1, 0.95

func (p *part) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) }

// Type names it for flagError.
func (p *part) Type() string { return "part" }

// Set is called with what was typed.
func (p *part) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err == nil && !(LeastPart <= x && x <= MostPart) {
		err = strconv.ErrRange
	}
	*p = part(x)
	return err
}

// backtest calibrates on the first part of the data and holds that to the rest.
func (f *planFlags) backtest(cmd *cobra.Command, files []string) error {
	for _, flag := range []string{"engine", "repeats", "out", "resume", "fresh", "workers", "html", "nats"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s cannot be used with --backtest", flag)
		}
	}
	var record *outfile.File
	var err error
	if f.json != "-" {
		if record, err = outfile.Create(f.json); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	defer record.Discard()
	h, err := readData(cmd, f.managers, "backtest", files)
	if err != nil {
		return err
	}
	ctx, stop := exit.Interruptible(cmd.ErrOrStderr(), record.Discard)
	defer stop()
	b, err := calibrate.Test(h, float64(f.back.split), calibrate.Worlds, reporting(ctx, cmd.ErrOrStderr()))
	switch {
	case ctx.Err() != nil:
		return errors.New("backtest: interrupted")
	case err != nil:
		return fmt.Errorf("backtest: %w", err)
	}
	printNotes(cmd.ErrOrStderr(), b.Fit)
	people := cmd.OutOrStdout()
	if f.json == "-" {
		people = cmd.ErrOrStderr()
		err = b.JSON(cmd.OutOrStdout())
	} else if record != nil {
		err = errors.Join(b.JSON(record), record.Commit())
	}
	if err := errors.Join(err, b.Text(people)); err != nil {
		return err
	}
	switch {
	case b.Judged() == 0:
		return &exit.Error{Code: exit.Cannot, Err: errors.New("backtest: there are too few data to judge the prediction")}
	case b.Wrong():
		return &exit.Error{Code: exit.Violation}
	}
	return nil
}

// reporting returns a function that reports progress periodically, until ctx ends.
func reporting(ctx context.Context, w io.Writer) func(int) error {
	last := time.Now()
	return func(done int) error {
		if time.Since(last) > 2*time.Second {
			last = time.Now()
			fmt.Fprintf(w, "ipamsim: %d of %d worlds\n", done, calibrate.Worlds)
		}
		return ctx.Err()
	}
}
