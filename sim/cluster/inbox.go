package cluster

import (
	"context"
	"fmt"
	"sync"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// inbox is what one of our controllers hears of the API server: its informer.
// What has been committed but not yet heard waits here; hearing it is a message
// to the controller and passes its gate, so how far a controller lags behind is
// the schedule's choice.
type inbox struct {
	want func(kube.Change) bool
	wake chan struct{}

	mu    sync.Mutex
	queue []kube.Change
}

func (c *Cluster) subscribe(want func(kube.Change) bool) *inbox {
	in := &inbox{want: want, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	c.inboxes = append(c.inboxes, in)
	c.mu.Unlock()
	return in
}

func (c *Cluster) unsubscribe(in *inbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, x := range c.inboxes {
		if x == in {
			c.inboxes = append(c.inboxes[:i:i], c.inboxes[i+1:]...)
			return
		}
	}
}

func (in *inbox) put(ch kube.Change) {
	in.mu.Lock()
	in.queue = append(in.queue, ch)
	in.mu.Unlock()
	in.poke()
}

// poke makes next look again.
func (in *inbox) poke() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

func (in *inbox) first() (ch kube.Change, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) == 0 {
		return ch, false
	}
	return in.queue[0], true
}

// next waits until something was heard and returns all of it, oldest first.
func (in *inbox) next(ctx context.Context, g *sim.Gate) (heard []kube.Change, err error) {
	for {
		if ch, ok := in.first(); ok {
			op := sim.Op{Kind: sim.Event, Class: "watch", Key: "HEAR " + describe(ch), Request: kube.About("HEAR", ch.Resource, ch.Namespace, ch.Name)}
			err = g.Pass(ctx, op, func(ctx context.Context) error {
				in.mu.Lock()
				heard, in.queue = in.queue, nil
				in.mu.Unlock()
				sim.Report(ctx, fmt.Sprintf("%d changes", len(heard)), nil)
				return nil
			})
			return heard, err
		}
		select {
		case <-in.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func describe(ch kube.Change) string {
	what := "MODIFIED"
	switch {
	case ch.Object == nil:
		what = "DELETED"
	case ch.Old == nil:
		what = "ADDED"
	}
	name := ch.Name
	if ch.Namespace != "" {
		name = ch.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s/%s rv=%d", what, ch.Resource, name, ch.Revision)
}
