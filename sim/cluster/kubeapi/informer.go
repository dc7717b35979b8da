package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// Informer delivers changes of the API server to one process. Committed changes wait here until
// they are received. Receiving them is a message to the process and passes its gate, so the
// schedule decides how far a process lags behind.
type Informer struct {
	want func(kube.Change) bool
	wake chan struct{}

	mu    sync.Mutex
	queue []kube.Change
}

// Feed gives committed changes to informers.
type Feed struct {
	mu  sync.Mutex
	all []*Informer
}

// Subscribe makes an informer of the changes that are wanted from now on.
func (f *Feed) Subscribe(want func(kube.Change) bool) *Informer {
	in := &Informer{want: want, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	f.all = append(f.all, in)
	f.mu.Unlock()
	return in
}

// Unsubscribe ends one.
func (f *Feed) Unsubscribe(in *Informer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.all, in); i >= 0 {
		f.all = append(f.all[:i:i], f.all[i+1:]...) // Informers may be ranged over
	}
}

// Informers are the present subscribers, the first one first.
func (f *Feed) Informers() []*Informer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all
}

// Offer gives it a change, if it wants it.
func (in *Informer) Offer(ch kube.Change) {
	if !in.want(ch) {
		return
	}
	in.mu.Lock()
	in.queue = append(in.queue, ch)
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

func (in *Informer) first() (ch kube.Change, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) == 0 {
		return ch, false
	}
	return in.queue[0], true
}

// Next waits for changes and returns all of them, oldest first.
func (in *Informer) Next(ctx context.Context, g *sim.Gate) (heard []kube.Change, err error) {
	return in.NextWithin(ctx, g, nil)
}

// NextWithin is Next, or nothing if the time is up before.
func (in *Informer) NextWithin(ctx context.Context, g *sim.Gate, up <-chan time.Time) (heard []kube.Change, err error) {
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
		case <-up:
			return nil, nil
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
