package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"ipamsim/scenarios"
	"ipamsim/sim/scratch"
)

// Worker takes shards and has them run in cells.
type Worker struct {
	Managers scenarios.Managers
	Link     Link
	Parallel int // runs at a time
	// Say tells people what the worker is at; nil keeps it quiet.
	Say func(string)
	// Once: leave when the campaign is over, instead of waiting for another.
	Once bool
}

// ErrBuild is what a worker says that cannot work for anybody.
var ErrBuild = errors.New("every campaign there is of another build")

// Run works until ctx ends.
func (w Worker) Run(ctx context.Context) error {
	build := w.Link.build
	if build == "" {
		var err error
		if build, err = Build(); err != nil {
			return err
		}
	}
	room, err := scratch.New("cells")
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer func() { _ = room.Remove() }()
	b, err := reach(ctx, w.Link, "worker")
	if err != nil {
		return err
	}
	defer b.conn.Close()
	w.say("build %s, %d at a time, at %s", build, w.Parallel, b.conn.ConnectedUrlRedacted())
	waiting := false
	for ctx.Err() == nil {
		id, e, err := b.find(ctx, build)
		switch {
		case err != nil:
			return err
		case id == "":
			if !waiting {
				w.say("waiting for a campaign")
			}
			waiting = true
			pause(ctx, time.Second)
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

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// find looks for a campaign of this build that has work.
func (b *bus) find(ctx context.Context, build string) (id string, e entry, err error) {
	ids, err := b.register.Keys(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		return "", e, b.wrap(err)
	}
	var other error
	for _, id := range ids {
		kv, err := b.register.Get(ctx, id)
		var e entry
		if err != nil || json.Unmarshal(kv.Value(), &e) != nil || e.Phase == over {
			continue
		}
		if e.Build == build {
			return id, e, nil
		}
		other = fmt.Errorf("%w: %s (campaign %s) needs build %s, this is %s; use the same binary", ErrBuild, e.Name, id, e.Build, build)
	}
	return "", e, other
}

// crew is the work of one worker for one campaign.
type crew struct {
	*bus
	managers scenarios.Managers
	spec     Spec
	scratch  string
	phase    atomic.Int32
	epoch    atomic.Int64
	shards   jetstream.Consumer
	// late ends a moment after exploring has to: whatever still runs then is killed.
	late   atomic.Pointer[term]
	failed func(error)
}

// term is a stretch of exploring.
type term struct {
	context.Context
	end context.CancelFunc
}

func (c *crew) term() context.Context { return c.late.Load() }

// lateAfter is what a run gets to end by itself when the campaign's time is up.
const lateAfter = 1500 * time.Millisecond

// join works for one campaign until it is over.
func (w Worker) join(ctx context.Context, b *bus, id, scratch string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &crew{managers: w.Managers, bus: &bus{conn: b.conn, js: b.js, register: b.register}, scratch: scratch, failed: func(err error) { cancel(err) }}
	if err := c.open(ctx, id); err != nil {
		return err
	}
	text, err := c.objects.GetBytes(ctx, specObject)
	if err == nil {
		err = json.Unmarshal(text, &c.spec)
	}
	if err != nil {
		return c.wrap(err)
	}
	if c.shards, err = c.queue.Consumer(ctx, "workers"); err != nil {
		return c.wrap(err)
	}
	c.begin(ctx)
	defer func() { c.term().(*term).end() }()
	news, err := c.register.Watch(ctx, id)
	if err != nil {
		return c.wrap(err)
	}
	var all sync.WaitGroup
	first := make(chan struct{})
	all.Go(func() { c.listen(ctx, news, first, cancel) })
	select {
	case <-first:
	case <-ctx.Done():
	}
	for range w.Parallel {
		s := &slot{crew: c}
		s.cell.Start = s.start
		all.Go(func() { s.work(ctx) })
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errOver) {
		return err
	}
	return nil
}

// begin a new stretch of exploring.
func (c *crew) begin(ctx context.Context) {
	t := &term{}
	t.Context, t.end = context.WithCancel(ctx)
	c.late.Store(t)
}

var errOver = errors.New("the campaign is over")

// listen follows the campaign's phase.
func (c *crew) listen(ctx context.Context, news jetstream.KeyWatcher, first chan struct{}, cancel context.CancelCauseFunc) {
	defer func() { _ = news.Stop() }()
	told := sync.OnceFunc(func() { close(first) })
	for {
		select {
		case <-ctx.Done():
			return
		case kv := <-news.Updates():
			if kv == nil {
				continue // that is all there was
			}
			var e entry
			if kv.Operation() != jetstream.KeyValuePut || json.Unmarshal(kv.Value(), &e) != nil || e.Phase == over {
				cancel(errOver)
				return
			}
			if old := c.epoch.Swap(int64(e.Epoch)); old != int64(e.Epoch) {
				c.late.Load().end() // what runs is planned anew
				c.begin(ctx)
			}
			c.phase.Store(int32(e.Phase))
			if e.Phase == finishing {
				time.AfterFunc(lateAfter, c.late.Load().end)
			}
			told()
		}
	}
}
