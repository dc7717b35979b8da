package exit

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Interruptible is a context that ends with the first Ctrl-C or SIGTERM. The
// second one, or a run that does not let go, ends the process; cleanup then gets
// a moment to remove what would be left behind.
func Interruptible(stderr io.Writer, cleanup func()) (ctx context.Context, stop func()) {
	return InterruptibleFor(interruptMax, stderr, cleanup)
}

// InterruptibleFor is Interruptible for work that has things to store first.
func InterruptibleFor(patience time.Duration, stderr io.Writer, cleanup func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-over:
			return
		}
		cancel()
		enough := time.After(patience)
		time.Sleep(echoMax)
		for len(signals) > 0 {
			<-signals
		}
		select {
		case <-over:
			return
		case <-signals:
		case <-enough:
		}
		done := make(chan struct{})
		go func() { defer close(done); cleanup() }()
		select {
		case <-done:
		case <-time.After(cleanupMax):
		}
		fmt.Fprintln(stderr, "ipamsim: interrupted; the run did not stop in time")
		os.Exit(Cannot)
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}

// A user who presses Ctrl-C waits about a second.
const (
	interruptMax = 900 * time.Millisecond
	// A signal that comes so soon after another is the same one: timeout(1) sends it
	// to the process and to its group.
	echoMax    = 100 * time.Millisecond
	cleanupMax = 90 * time.Millisecond
)

// IgnoreInterrupts is for processes that another one of ours ends.
func IgnoreInterrupts() { signal.Ignore(os.Interrupt, syscall.SIGTERM) }
