package etcd

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/grpc/metadata"
)

// stream is the watches that share a connection to etcd: watches whose contexts have the same
// metadata. They get progress notifications together.
type stream struct {
	name    string
	began   time.Time
	watches []*watch
	ticks   *time.Timer // nil: no watch requests progress
	err     error       // why one of its watches was refused
}

// progress is a revision up to which a watch is complete, and the number of entries in the
// history at that time.
type progress struct {
	at  int
	rev int64
}

// progressPeriod is how often etcd sends progress to an idle watch that requests it; etcd adds
// a random part of up to a tenth.
const progressPeriod = 10 * time.Minute

// NotifyProgress sets another period: etcd's flag
// --experimental-watch-progress-notify-interval. Call it before the first watch.
func (r *Run) NotifyProgress(every time.Duration) { r.progress = every }

// stream returns the stream of a context.
func (r *Run) stream(ctx context.Context) *stream {
	name := ""
	if md, ok := metadata.FromOutgoingContext(ctx); ok {
		name = fmt.Sprint(map[string][]string(md))
	}
	s := r.streams[name]
	if s == nil {
		s = &stream{name: name, began: time.Now()}
		r.streams[name] = s
	}
	return s
}

// open adds a watch to its stream.
func (r *Run) open(ctx context.Context, w *watch) {
	w.on = r.stream(ctx)
	w.on.watches = append(w.on.watches, w)
	if w.opts.progress && w.on.ticks == nil {
		w.on.ticks = time.AfterFunc(r.progress-time.Since(w.on.began)%r.progress, func() { r.tick(w.on) })
	}
}

// leave removes watch i from its stream; the stream ends with its last watch.
func (r *Run) leave(w *watch, i int) {
	s := w.on
	if s.watches = slices.Delete(s.watches, i, i+1); len(s.watches) > 0 {
		return
	}
	delete(r.streams, s.name)
	if s.ticks != nil {
		s.ticks.Stop()
	}
}

// RequestProgress sends progress to every watch of the context's stream, unless a watch of the
// stream is behind.
func (c *watcher) RequestProgress(ctx context.Context) error {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s := r.stream(ctx)
	if !slices.ContainsFunc(s.watches, func(w *watch) bool { return !r.abreast(w) }) {
		r.ask(s.watches...)
	}
	return nil
}

// tick sends progress to watches that request it and had no event since the last tick.
func (r *Run) tick(s *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range s.watches {
		if w.opts.progress && w.quiet && r.abreast(w) {
			r.ask(w)
		}
		w.quiet = true
	}
	s.ticks.Reset(r.progress)
}

// abreast reports whether a watch gets every event as it happens. A watch that starts in the
// future does not yet.
func (r *Run) abreast(w *watch) bool { return w.caughtUp && w.start <= r.history.last }

func (r *Run) ask(watches ...*watch) {
	h := &r.history
	for _, w := range watches {
		w.asked = append(w.asked, progress{h.first + len(h.log), h.last})
		r.due.Store(true)
	}
}

// delivered records what a watch received: events, or its progress.
func (w *watch) delivered(progress bool) {
	if w.quiet = w.quiet && progress; progress {
		w.asked = w.asked[1:]
	}
}

// refuse ends a watch of an empty range with an error. Etcd's client then has the error for
// its whole stream.
func (w *watch) refuse() {
	w.on.err = mvcc.ErrEmptyWatcherRange
	w.refuseToo()
}

// refuseToo gives a watch that ends by itself the error of another watch of its stream.
func (w *watch) refuseToo() {
	if w.on.err == nil {
		return
	}
	resp := clientv3.WatchResponse{Header: &pb.ResponseHeader{}, Canceled: true}
	field := reflect.ValueOf(&resp).Elem().FieldByName("closeErr")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(w.on.err))
	w.offer(resp)
}
