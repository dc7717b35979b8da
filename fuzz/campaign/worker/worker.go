// Package worker takes shards from the queue and executes their runs in processes of their own,
// which a run may kill.
package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/scenarios"
	"ipamsim/sim/scratch"
)

// Worker takes shards and executes them in worker processes.
type Worker struct {
	Managers scenarios.Managers
	Link     queue.Link
	Parallel int // runs at a time
	// Say receives progress messages; nil discards them.
	Say func(string)
	// Once: return when the campaign is over, instead of waiting for another.
	Once bool
}

// Run works until ctx ends.
func (w Worker) Run(ctx context.Context) error {
	build := w.Link.Build
	if build == "" {
		var err error
		if build, err = queue.Build(); err != nil {
			return err
		}
	}
	room, err := scratch.New("workers")
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer func() { _ = room.Remove() }()
	b, err := queue.Reach(ctx, w.Link, "worker")
	if err != nil {
		return err
	}
	defer b.Close()
	w.say("build %s, %d at a time, at %s", build, w.Parallel, b.Server())
	waiting := false
	for ctx.Err() == nil {
		id, e, err := b.Find(ctx, build)
		switch {
		case err != nil:
			return err
		case id == "":
			if !waiting {
				w.say("waiting for a campaign")
			}
			waiting = true
			queue.Pause(ctx, time.Second)
			continue
		}
		waiting = false
		w.say("working on %s (campaign %s)", e.Name, id)
		if err := w.join(ctx, b, id, room.Path); err != nil {
			return err
		}
		if w.Once {
			return nil
		}
	}
	return nil
}

func (w Worker) say(format string, args ...any) {
	if w.Say != nil {
		w.Say(fmt.Sprintf(format, args...))
	}
}

// team is the work of one worker for one campaign.
type team struct {
	*queue.Bus
	managers scenarios.Managers
	spec     queue.Spec
	scratch  string
	phase    atomic.Int32
	epoch    atomic.Int64
	queue    jetstream.Consumer
	// late ends LateAfter after exploring has to end: runs that are not done then are killed.
	late   atomic.Pointer[term]
	failed func(error)
}

// term is a phase of exploring.
type term struct {
	context.Context
	end context.CancelFunc
}

func (c *team) term() context.Context { return c.late.Load() }

// join works for one campaign until it is over.
func (w Worker) join(ctx context.Context, b *queue.Bus, id, scratch string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &team{managers: w.Managers, Bus: b.Sibling(), scratch: scratch, failed: func(err error) { cancel(err) }}
	if err := c.Open(ctx, id); err != nil {
		return err
	}
	var err error
	if c.spec, err = c.Searched(ctx); err != nil {
		return err
	}
	if c.queue, err = c.Shards(ctx); err != nil {
		return err
	}
	c.begin(ctx)
	defer func() { c.term().(*term).end() }()
	news, err := c.Watch(ctx, id)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	first := make(chan struct{})
	all.Go(func() { c.listen(ctx, news, first, cancel) })
	select {
	case <-first:
	case <-ctx.Done():
	}
	for range w.Parallel {
		s := &slot{team: c}
		s.process.Start = s.start
		all.Go(func() { s.work(ctx) })
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errOver) {
		return err
	}
	return nil
}

// begin starts a new phase of exploring.
func (c *team) begin(ctx context.Context) {
	t := &term{}
	t.Context, t.end = context.WithCancel(ctx)
	c.late.Store(t)
}

var errOver = errors.New("the campaign is over")

// listen follows the campaign's phase.
func (c *team) listen(ctx context.Context, news <-chan queue.Entry, first chan struct{}, cancel context.CancelCauseFunc) {
	heard := sync.OnceFunc(func() { close(first) })
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-news:
			if e.Phase == queue.Over {
				cancel(errOver)
				return
			}
			if old := c.epoch.Swap(int64(e.Epoch)); old != int64(e.Epoch) {
				c.late.Load().end() // the open shards are planned again
				c.begin(ctx)
			}
			c.phase.Store(int32(e.Phase))
			if e.Phase == queue.Finishing {
				time.AfterFunc(queue.LateAfter, c.late.Load().end)
			}
			heard()
		}
	}
}
