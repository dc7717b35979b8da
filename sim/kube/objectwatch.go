package kube

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"ipamsim/sim"
)

// objectWatch is a watch of objects. It implements watch.Interface.
type objectWatch struct {
	o      *Objects
	ctx    context.Context
	cancel context.CancelFunc
	out    chan watch.Event

	mu    sync.Mutex
	timer *time.Timer
}

// begin opens a watch of the changes after a revision. It ends with the caller's context, by
// Stop, by its time-out, or when its history is compacted.
func (o *Objects) begin(caller context.Context, from string) *objectWatch {
	w := &objectWatch{o: o, out: make(chan watch.Event)}
	w.ctx, w.cancel = context.WithCancel(caller)
	rev, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		panic(err) // the revision comes from our own list or event
	}
	s := o.d.s
	in := s.backend.client.Watch(clientv3.WithRequireLeader(w.ctx), o.where, clientv3.WithPrefix(), clientv3.WithRev(rev+1), clientv3.WithPrevKV())
	closed := context.AfterFunc(s.ctx, w.cancel)
	go func() {
		defer close(w.out)
		defer closed()
		defer w.cancel()
		defer o.d.conn.carry(func(error) { w.cancel() })()
		w.move(in)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer != nil {
			w.timer.Stop()
		}
	}()
	return w
}

// end ends the watch after its time-out.
func (w *objectWatch) end(after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(after, func() {
		w.o.mu.Lock()
		w.o.ended = true
		w.o.mu.Unlock()
		w.cancel()
	})
}

// ResultChan implements watch.Interface.
func (w *objectWatch) ResultChan() <-chan watch.Event { return w.out }

// Stop implements watch.Interface.
func (w *objectWatch) Stop() { w.cancel() }

// move delivers the store's events, each when the schedule delivers it, and once a minute a
// bookmark.
func (w *objectWatch) move(in clientv3.WatchChan) {
	tick := time.NewTicker(bookmarkEvery)
	defer tick.Stop()
	for {
		select {
		case r, open := <-in:
			if !open {
				return
			}
			if r.Err() != nil {
				w.expired()
				return
			}
			for _, e := range r.Events {
				if !w.pass(e) {
					return
				}
			}
		case <-tick.C:
			if len(in) == 0 && !w.bookmark() {
				return
			}
		}
	}
}

// bookmark delivers the present revision to a reachable process. It concerns no object, so the
// schedule has no choice.
func (w *objectWatch) bookmark() bool {
	rev := w.o.d.s.store.Heard()
	w.o.mu.Lock()
	known, err := strconv.ParseInt(w.o.known, 10, 64)
	w.o.mu.Unlock()
	if err != nil || rev <= known || !w.o.d.g.Reached() {
		return true
	}
	return w.say(watch.Bookmark, w.o.shown(w.o.blank(), rev), rev)
}

// change converts an event for a watcher of the selected objects. The kind is "" if the event
// does not concern them. ok is false if the history is compacted.
//
// Source: apiserver, pkg/storage/etcd3, watchChan.transform (v0.37.2).
func (w *objectWatch) change(e *clientv3.Event) (kind watch.EventType, obj runtime.Object, ok bool) {
	read := func(kv *mvccpb.KeyValue) runtime.Object {
		obj, err := w.o.d.s.journal.decode(string(kv.Key), kv.Value, kv.ModRevision)
		if err != nil {
			panic(err) // the API server itself has encoded it
		}
		return obj
	}
	is, was := e.Type != clientv3.EventTypeDelete, !e.IsCreate()
	if was && e.PrevKv == nil && (!is || w.o.keeps != nil) {
		return "", nil, false // compacted
	}
	var old runtime.Object
	if was && (!is || w.o.keeps != nil) {
		old = read(e.PrevKv)
		was = w.o.keeps == nil || w.o.keeps(old)
	}
	if is {
		obj = read(e.Kv)
		is = w.o.keeps == nil || w.o.keeps(obj)
	}
	switch {
	case is && was:
		return watch.Modified, obj, true
	case is:
		return watch.Added, obj, true
	case was:
		return watch.Deleted, old, true
	}
	return "", nil, true
}

// pass has one event pass the gate.
func (w *objectWatch) pass(e *clientv3.Event) bool {
	kind, obj, ok := w.change(e)
	if !ok {
		w.expired()
	}
	if !ok || kind == "" {
		return ok
	}
	rev := e.Kv.ModRevision
	about, _ := parse(string(e.Kv.Key))
	r := About("EVENT", w.o.gvr.Resource, about.Namespace, about.Name)
	op := sim.Op{
		Kind: sim.Event, Class: "watch", Key: "EVENT " + string(kind) + " " + r.Path + " rv=" + strconv.FormatInt(rev, 10),
		Faults: sim.Of(sim.Drop, sim.Gone), Link: w.o.d.conn.link, Request: r,
	}
	err := w.o.d.g.Pass(w.ctx, op, func(ctx context.Context) error {
		sim.Report(ctx, "delivered", Exchange{Method: "EVENT", Verb: "event", Path: r.Path, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name, Status: 200, Bare: true})
		return nil
	})
	if fault := (*sim.Fault)(nil); errors.As(err, &fault) && fault.Outcome == sim.Gone {
		w.expired()
	}
	return err == nil && w.say(kind, w.o.shown(obj, rev), rev)
}

// say delivers an event; its reader is then complete up to a revision. It reports whether
// there is a reader.
func (w *objectWatch) say(kind watch.EventType, obj runtime.Object, rev int64) bool {
	select {
	case w.out <- watch.Event{Type: kind, Object: obj}:
	case <-w.ctx.Done():
		return false
	}
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	w.o.known = strconv.FormatInt(rev, 10)
	return true
}

// expired delivers the last event of a watch whose history is compacted.
func (w *objectWatch) expired() {
	select {
	case w.out <- watch.Event{Type: watch.Error, Object: statusOf(&gone)}:
	case <-w.ctx.Done():
	}
}

// expiredWatch is a watch that consists of that event.
func expiredWatch() watch.Interface {
	w := watch.NewFakeWithChanSize(1, false)
	w.Error(statusOf(&gone))
	w.Stop()
	return w
}
