package etcd

import (
	"context"
	"reflect"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// watcher serves watches from the run's history. Each is a cursor; events move
// only when Pump is called, so the kernel owns their timing, and a watch from an
// old revision is exact.
type watcher struct{ r *Run }

var _ clientv3.Watcher = (*watcher)(nil)

// watchBuffer is how many revisions a watch may have in flight before its reader
// takes one. The rest waits in the history.
const watchBuffer = 16

type watch struct {
	out      chan clientv3.WatchResponse // made in the bubble
	key, end string
	from     int64 // first revision wanted
	next     int   // number of the first history entry not looked at
	caughtUp bool  // has been fed: from no longer matters
	opts     watchOptions
}

type watchOptions struct{ prev, created, noPut, noDelete bool }

// options reads what clientv3 keeps to itself.
func options(op clientv3.Op) watchOptions {
	v := reflect.ValueOf(op)
	is := func(field string) bool { return v.FieldByName(field).Bool() }
	return watchOptions{prev: is("prevKV"), created: is("createdNotify"), noPut: is("filterPut"), noDelete: is("filterDelete")}
}

// Watch opens a watch. Its channel closes when ctx ends, when the run ends, or,
// after a response that wraps ErrCompacted, when its history is gone.
func (c *watcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	r, op := c.r, clientv3.OpGet(key, opts...)
	w := &watch{
		out: make(chan clientv3.WatchResponse, watchBuffer),
		key: string(op.KeyBytes()), end: string(op.RangeBytes()), from: op.Rev(), opts: options(op),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || ctx.Err() != nil {
		close(w.out)
		return w.out
	}
	if w.from == 0 {
		w.from = r.history.last + 1
	}
	w.next = r.history.find(w.from)
	if w.opts.created {
		w.out <- clientv3.WatchResponse{Header: *r.base.header(&pb.ResponseHeader{}), Created: true}
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

// RequestProgress does nothing: the API server asks for it only with a watch cache.
func (c *watcher) RequestProgress(context.Context) error { return nil }

// Close does nothing: watches end with their contexts or with the run.
func (c *watcher) Close() error { return nil }

func (r *Run) drop(w *watch) {
	if i := slices.Index(r.watches, w); i >= 0 {
		r.watches = slices.Delete(r.watches, i, i+1)
		close(w.out)
	}
}

// feed hands a watch what is due, one response a revision, until its buffer is
// full, and reports whether it handed over anything. It never waits: the
// goroutine that pumps is the one that everybody else waits for.
func (r *Run) feed(w *watch) (moved bool) {
	h := &r.history
	if !w.caughtUp && w.from < h.compacted || w.next < h.first {
		select {
		case w.out <- clientv3.WatchResponse{Header: *r.base.header(&pb.ResponseHeader{}), CompactRevision: h.compacted, Canceled: true}:
			r.drop(w)
			return true
		default:
			r.due.Store(true)
			return false
		}
	}
	w.caughtUp = true
	for rest := h.from(w.next); len(rest) > 0; rest = h.from(w.next) {
		resp, n := w.take(rest)
		if len(resp.Events) > 0 {
			select {
			case w.out <- resp:
				moved = true
			default:
				r.due.Store(true)
				return moved
			}
		}
		w.next += n
	}
	return moved
}

// take is the response for the first revision in the log and how many entries
// that revision has.
func (w *watch) take(log []*clientv3.Event) (resp clientv3.WatchResponse, n int) {
	rev := log[0].Kv.ModRevision
	for ; n < len(log) && log[n].Kv.ModRevision == rev; n++ {
		if e := log[n]; w.wants(e) {
			if !w.opts.prev && e.PrevKv != nil {
				e = &clientv3.Event{Type: e.Type, Kv: e.Kv}
			}
			resp.Events = append(resp.Events, e)
		}
	}
	resp.Header = pb.ResponseHeader{ClusterId: 1, MemberId: 1, RaftTerm: 2, Revision: rev}
	return resp, n
}

// wants knows etcd's three shapes of a range: one key, [key, end), and everything
// from key on, whose end is a zero byte.
func (w *watch) wants(e *clientv3.Event) bool {
	if e.Type == mvccpb.PUT && w.opts.noPut || e.Type == mvccpb.DELETE && w.opts.noDelete {
		return false
	}
	k := string(e.Kv.Key)
	return k == w.key || w.end != "" && k >= w.key && (k < w.end || w.end == "\x00")
}
