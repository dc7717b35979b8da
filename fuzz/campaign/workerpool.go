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

// workerPool are the worker processes that a coordinator started itself. One that
// dies is replaced.
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

// keep one worker going.
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
			short-- // somebody killed it, which is not its fault
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

// startsMax: a worker that ends so often within a second of its start cannot work.
const startsMax = 5

// dismissMax is what a worker gets to end by itself.
const dismissMax = 2 * time.Second

// oneWorker is the life of a worker. It holds a pipe as stdin: if the coordinator
// is killed it reads its end, and goes.
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
		time.AfterFunc(dismissMax, func() { _ = cmd.Process.Kill() }) // its worker process then reads its end, and the scratch is swept later
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

// dismiss ends the workers.
func (h *workerPool) dismiss() {
	h.stop()
	h.all.Wait()
}
