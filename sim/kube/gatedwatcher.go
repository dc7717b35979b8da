package kube

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ipamsim/sim"
)

// gatedWatcher is a Peer's watcher of etcd: each event is a message at the Peer's gate. The
// delay of these messages is the lag of an API server's caches.
type gatedWatcher struct {
	clientv3.Watcher
	g *sim.Gate
}

// Watch opens a watch. If the schedule drops it, it ends; if the history is gone, it ends as
// after a compaction; it also ends with its process.
func (d *gatedWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	ctx, cancel := context.WithCancel(ctx)
	from, to := d.Watcher.Watch(ctx, key, opts...), make(chan clientv3.WatchResponse)
	go func() {
		defer cancel()
		defer close(to)
		for {
			select {
			case r, ok := <-from:
				if !ok || !d.deliver(ctx, r, to) {
					return
				}
			case <-d.g.Ended():
				return
			}
		}
	}()
	return to
}

// deliver passes a response on when the schedule delivers it; more is false after the last one.
func (d *gatedWatcher) deliver(ctx context.Context, r clientv3.WatchResponse, to chan<- clientv3.WatchResponse) (more bool) {
	more = true
	if len(r.Events) > 0 {
		err := d.pass(ctx, r.Events[0])
		if f := new(sim.Fault); errors.As(err, &f) && f.Outcome == sim.Gone {
			r, more = clientv3.WatchResponse{Canceled: true, CompactRevision: r.Events[0].Kv.ModRevision}, false
		} else if err != nil {
			return false
		}
	}
	select {
	case to <- r:
		return more
	case <-ctx.Done():
	case <-d.g.Ended():
	}
	return false
}

func (d *gatedWatcher) pass(ctx context.Context, e *clientv3.Event) error {
	at := storedAt("event", e.Kv.Key)
	at.Object, at.Revision = e.Kv.Value, e.Kv.ModRevision
	kind := "MODIFIED"
	switch {
	case e.Type == clientv3.EventTypeDelete:
		kind, at.Gone = "DELETED", true
		if e.PrevKv != nil {
			at.Object = e.PrevKv.Value
		}
	case e.IsCreate():
		kind = "ADDED"
	}
	r := at.request()
	op := sim.Op{Kind: sim.Event, Class: "watch", Key: "EVENT " + kind + " " + r.Path, Faults: sim.Of(sim.Drop, sim.Gone), Request: r}
	return d.g.Pass(ctx, op, func(ctx context.Context) error {
		sim.Report(ctx, "delivered", at)
		return nil
	})
}
