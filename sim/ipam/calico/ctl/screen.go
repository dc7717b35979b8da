package ctl

import (
	"context"
	"io"
	"os"

	"ipamsim/sim/hermetic"
)

// terminal is held by the command of this process that owns os.Stdout.
var terminal = make(chan struct{}, 1)

// console is the state of the operators' commands of one run.
type console struct {
	// turn is held by the command of the run that has or waits for the terminal. Without it,
	// a pinned command that waits for another command of its own bubble would wait forever.
	turn    chan struct{}
	reports reports
}

func newConsole() *console { return &console{turn: make(chan struct{}, 1), reports: reports{}} }

// screen is the output of one command: calicoctl writes to os.Stdout, which is a file in memory
// while the command prints.
type screen struct {
	turn       chan struct{}
	file, real *os.File
}

// capture runs print and returns what it wrote to os.Stdout. print must not wait for the schedule
// except through away.
func (c *console) capture(print func(*screen) error) (string, error) {
	f, err := memory("stdout") // a pipe could fill up
	if err != nil {
		return "", err
	}
	defer f.Close()
	s := &screen{turn: c.turn, file: f}
	failed := s.hold(print)
	b, err := content(f)
	if failed == nil {
		failed = err
	}
	return string(b), failed
}

func (s *screen) hold(print func(*screen) error) error {
	s.take()
	defer s.leave() // also when the process is killed
	return print(s)
}

// away runs an action that depends on the schedule, while other commands may print.
func away[T any](ctx context.Context, s *screen, do func(context.Context) (T, error)) (T, error) {
	s.leave()
	defer s.take()
	return do(ctx)
}

func (s *screen) take() {
	s.turn <- struct{}{}
	hermetic.Pin(true) // the holder is in another bubble, and does not wait for this one
	terminal <- struct{}{}
	hermetic.Pin(false)
	s.real, os.Stdout = os.Stdout, s.file
}

func (s *screen) leave() {
	os.Stdout = s.real
	<-terminal
	<-s.turn
}

// content is all of a file, wherever its reader or writer stands.
func content(f *os.File) ([]byte, error) { return io.ReadAll(io.NewSectionReader(f, 0, 1<<62)) }
