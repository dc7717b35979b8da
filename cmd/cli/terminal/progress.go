// Package terminal shows on a terminal, or in a log, how far a command is.
package terminal

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a bar on stderr if that is a terminal and there is more than one
// run to wait for. Without one, nil, the lines of the runs are the progress.
type Progress struct{ Bar *progressbar.ProgressBar }

func NewProgress(stderr io.Writer, runs int) *Progress {
	if runs < 2 || !Is(stderr) {
		return nil
	}
	f := stderr.(*os.File)
	return &Progress{progressbar.NewOptions(runs,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription("runs"), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("runs"), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(true),
	)}
}

func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p *Progress) Add() {
	if p != nil {
		_ = p.Bar.Add(1) // a bar that cannot be drawn does no harm
	}
}

// Above prints over the bar, which is drawn again below.
func (p *Progress) Above(print func()) {
	if p == nil {
		print()
		return
	}
	_ = p.Bar.Clear()
	print()
	if !p.Bar.IsFinished() {
		_ = p.Bar.RenderBlank()
	}
}

func (p *Progress) Finish() {
	if p != nil {
		_ = p.Bar.Clear()
	}
}

const (
	// LinesEvery is how often a log gets a line if something has changed.
	LinesEvery = 5 * time.Second
	// LineEvery is how often it gets one even so.
	LineEvery = 30 * time.Second
)
