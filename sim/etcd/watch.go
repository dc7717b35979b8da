package etcd

import (
	"context"
	"reflect"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// watcher serves watches from the run's history. Each watch is a cursor; events move only when
// Pump is called, so the kernel controls their timing, and a watch from an old revision is
// exact.
//
// Package twin compares it with etcd.
//
// Source: storage/mvcc/watchable_store.go, etcdserver/api/v3rpc/watch.go and
// client/v3/watch.go (etcd v3.6).
type watcher struct{ r *Run }

var _ clientv3.Watcher = (*watcher)(nil)

const (
	// watchBuffer is how many revisions a watch may have in flight before its reader takes
	// one. The rest waits in the history.
	watchBuffer = 16
	// watchBatch is the maximum number of revisions in a response to a watch that lags.
	watchBatch = 1000
)

type watch struct {
	out      chan clientv3.WatchResponse // made in the bubble
	key, end string
	start    int64 // the requested revision; 0: now
	from     int64 // first revision wanted
	next     int   // number of the first history entry not read
	caughtUp bool  // no compaction affects it
	opts     watchOptions

	on    *stream
	asked []progress // requested progress, in order
	quiet bool       // no event since the stream's last tick
}

type watchOptions struct{ prev, created, noPut, noDelete, progress bool }

// options reads unexported fields of clientv3.
func options(op clientv3.Op) watchOptions {
	v := reflect.ValueOf(op)
	is := func(field string) bool { return v.FieldByName(field).Bool() }
	return watchOptions{
		prev: is("prevKV"), created: is("createdNotify"), noPut: is("filterPut"), noDelete: is("filterDelete"), progress: is("progressNotify"),
	}
}

// Watch opens a watch. Its channel closes when ctx ends, when the run ends, or, after a
// response that wraps ErrCompacted, when its history is compacted.
func (c *watcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	r, op := c.r, clientv3.OpGet(key, opts...)
	w := &watch{
		out: make(chan clientv3.WatchResponse, watchBuffer),
		key: max(string(op.KeyBytes()), "\x00"), end: string(op.RangeBytes()), start: op.Rev(), from: op.Rev(), opts: options(op), quiet: true,
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || ctx.Err() != nil {
		close(w.out)
		return w.out
	}
	r.open(ctx, w)
	if w.empty() {
		w.refuse()
		r.drop(w)
		return w.out
	}
	if w.from == 0 {
		w.from = r.history.last + 1
	}
	w.next, w.caughtUp = r.history.find(w.from), w.from > r.history.last
	if w.opts.created {
		w.out <- clientv3.WatchResponse{Header: header(r.history.last), Created: true}
	}
	r.watches = append(r.watches, w)
	r.due.Store(true)
	context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.drop(w)
	})
	return w.out
}

// header returns the header of a response to a watch.
func header(rev int64) *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: 1, MemberId: 1, RaftTerm: 2, Revision: rev}
}

// Close does nothing: watches end with their contexts or with the run.
func (c *watcher) Close() error { return nil }

func (r *Run) drop(w *watch) {
	if i := slices.Index(w.on.watches, w); i >= 0 {
		r.watches = slices.DeleteFunc(r.watches, func(o *watch) bool { return o == w })
		r.leave(w, i)
		close(w.out)
	}
}

// feed passes a watch its events until its buffer is full, and reports whether it passed any.
// It never waits: all other goroutines wait for the goroutine that pumps.
func (r *Run) feed(w *watch) (moved bool) {
	h := &r.history
	if !w.caughtUp && w.from < h.compacted || w.next < h.first {
		if moved = w.offer(clientv3.WatchResponse{Header: header(0), CompactRevision: h.compacted, Canceled: true}); moved {
			w.refuseToo()
			r.drop(w)
		} else {
			r.due.Store(true)
		}
		return moved
	}
	for {
		resp, n := w.portion(h)
		switch {
		case n == 0 && resp.Header.GetRevision() == 0:
			w.caughtUp = true
			return moved
		case n > 0 && len(resp.Events) == 0: // not for this watch
		case w.offer(resp):
			moved = true
			w.delivered(n == 0)
		default:
			r.due.Store(true)
			return moved
		}
		w.next += n
	}
}

// offer passes a response if there is room.
func (w *watch) offer(resp clientv3.WatchResponse) bool {
	select {
	case w.out <- resp:
		return true
	default:
		return false
	}
}

// portion returns the next response, maybe without events, and the number of its entries: one
// revision, all entries for a watch that lags, or the progress.
func (w *watch) portion(h *history) (resp clientv3.WatchResponse, n int) {
	if len(w.asked) > 0 && w.asked[0].at <= w.next {
		return clientv3.WatchResponse{Header: header(w.asked[0].rev)}, 0
	}
	log := h.from(w.next)
	if len(log) == 0 {
		return resp, 0
	}
	rev, revs := int64(0), 0
	for ; n < len(log); n++ {
		e := log[n]
		if e.Kv.ModRevision != rev && w.caughtUp && n > 0 {
			break
		}
		if w.covers(e) {
			if e.Kv.ModRevision != rev {
				revs++
			}
			if revs > watchBatch {
				w.from = e.Kv.ModRevision
				break
			}
			if !w.filtered(e) {
				resp.Events = append(resp.Events, w.shown(e, h.compacted))
			}
		}
		rev = e.Kv.ModRevision
	}
	if !w.caughtUp {
		rev = h.last
	}
	resp.Header = header(rev)
	return resp, n
}

// shown returns an event; it has the pair before it only if that is requested and available.
func (w *watch) shown(e *clientv3.Event, compacted int64) *clientv3.Event {
	if e.PrevKv == nil || w.opts.prev && e.Kv.ModRevision > compacted {
		return e
	}
	return &clientv3.Event{Type: e.Type, Kv: e.Kv}
}

// covers handles etcd's three forms of a range: one key, [key, end), and everything from key
// on, whose end is a zero byte.
func (w *watch) covers(e *clientv3.Event) bool {
	k := string(e.Kv.Key)
	return e.Kv.ModRevision >= w.from && (k == w.key || w.end != "" && k >= w.key && (k < w.end || w.end == "\x00"))
}

func (w *watch) filtered(e *clientv3.Event) bool {
	return e.Type == mvccpb.PUT && w.opts.noPut || e.Type == mvccpb.DELETE && w.opts.noDelete
}

// empty reports whether a range contains no key: etcd refuses it.
func (w *watch) empty() bool { return w.end != "" && w.end != "\x00" && w.key >= w.end }
