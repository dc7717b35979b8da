package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/process"
)

// workerPool is the workers that a coordinator started itself. A worker that dies is replaced.
type workerPool struct {
	failed chan error
	stop   context.CancelFunc
	all    sync.WaitGroup
}

// newWorkerPool starts workers of one worker process each.
func newWorkerPool(ctx context.Context, l queue.Link, workers int, say func(string)) (*workerPool, error) {
	ctx, stop := context.WithCancel(ctx)
	h := &workerPool{failed: make(chan error, 1), stop: stop}
	for n := range workers {
		h.all.Go(func() { h.keep(ctx, l, n, say) })
	}
	return h, nil
}

// keep runs a worker, and restarts it if it dies.
func (h *workerPool) keep(ctx context.Context, l queue.Link, n int, say func(string)) {
	short := 0
	for ctx.Err() == nil {
		began := time.Now()
		text, err := oneWorker(ctx, l)
		if ctx.Err() != nil || err == nil {
			return
		}
		var exit *exec.ExitError
		switch short++; {
		case time.Since(began) > time.Second:
			short = 0
		case errors.As(err, &exit) && !exit.Exited():
			short-- // it was killed, which is not its fault
		}
		if short > startsMax {
			select {
			case h.failed <- fmt.Errorf("workers do not stay alive: %w: %s", err, text):
			default:
			}
			return
		}
		if say != nil {
			say(fmt.Sprintf("worker %d died (%v%s) and is replaced; its shard is done again", n+1, err, text))
		}
		queue.Pause(ctx, 100*time.Millisecond)
	}
}

// startsMax is the number of failures within a second of the start after which a worker is given up.
const startsMax = 5

// stopMax is the time in which a worker has to end by itself.
const stopMax = 2 * time.Second

// oneWorker runs a worker until it ends. The worker's stdin is a pipe: when the coordinator is
// killed, the worker reads its end and exits.
func oneWorker(ctx context.Context, l queue.Link) (stderr string, err error) {
	cmd := process.Self(l.Environment(), "worker", "--workers", strconv.Itoa(1))
	errs := &process.Tail{}
	cmd.Stderr, cmd.WaitDelay = errs, 5*time.Second
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() {
		_ = in.Close()
		time.AfterFunc(stopMax, func() { _ = cmd.Process.Kill() }) // its worker process then reads the end of its input; the scratch directory is removed later
	})()
	err = cmd.Wait()
	last := strings.TrimSpace(errs.String())
	if last = last[strings.LastIndexByte(last, '\n')+1:]; last != "" {
		last = ": " + last
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return last, err
}

// stopAll ends the workers.
func (h *workerPool) stopAll() {
	h.stop()
	h.all.Wait()
}
