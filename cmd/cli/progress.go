package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on stderr if that is a terminal and there is more than one
// run to wait for. Without one, nil, the lines of the runs are the progress.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(stderr io.Writer, runs int) *progress {
	if runs < 2 || !isTerminal(stderr) {
		return nil
	}
	f := stderr.(*os.File)
	return &progress{progressbar.NewOptions(runs,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription("runs"), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("runs"), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(true),
	)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p *progress) add() {
	if p != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn is nobody's loss
	}
}

// above prints over the bar, which is drawn again below.
func (p *progress) above(print func()) {
	if p == nil {
		print()
		return
	}
	_ = p.bar.Clear()
	print()
	if !p.bar.IsFinished() {
		_ = p.bar.RenderBlank()
	}
}

func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
