package store

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"

	"ipamsim/sim"
)

// gatedWatch puts the gate between a watch of the datastore and its reader: the schedule decides
// which events a watch delivers, and when. The delay of these messages is the lag of a syncer. A
// watch that the schedule drops ends with an error and loses the event. After a compaction it ends
// with that error, and no watch can begin at an earlier revision: the reader has to list. The watch
// of a dead process ends, as its connection does.
type gatedWatch struct {
	client *gated
	from   bapi.WatchInterface
	to     chan bapi.WatchEvent
	cancel context.CancelFunc
	ended  atomic.Bool
}

func newGatedWatch(ctx context.Context, c *gated, from bapi.WatchInterface) *gatedWatch {
	ctx, cancel := context.WithCancel(ctx)
	w := &gatedWatch{client: c, from: from, to: make(chan bapi.WatchEvent), cancel: cancel}
	go w.move(ctx)
	return w
}

var errDropped = errors.New("etcdserver: no leader")

func (w *gatedWatch) move(ctx context.Context) {
	defer w.ended.Store(true)
	defer close(w.to)
	defer w.from.Stop()
	for {
		select {
		case e, ok := <-w.from.ResultChan():
			if !ok {
				return
			}
			err := w.pass(ctx, e)
			if f := new(sim.Fault); errors.As(err, &f) {
				e = w.broken(e, f.Outcome)
			} else if err != nil {
				return
			}
			select {
			case w.to <- e:
			case <-ctx.Done():
				return
			case <-w.client.g.Ended():
				return
			}
			if err != nil {
				return
			}
		case <-ctx.Done():
			return
		case <-w.client.g.Ended():
			return
		}
	}
}

// broken is the error that the reader gets instead of the event.
//
// Source: libcalico-go/lib/backend/etcdv3, watcher.watchLoop, which hands on what
// etcd's client says of a watch that failed.
func (w *gatedWatch) broken(e bapi.WatchEvent, o sim.Outcome) bapi.WatchEvent {
	if o != sim.Gone {
		return bapi.WatchEvent{Type: bapi.WatchError, Error: cerrors.ErrorDatastoreError{Err: errDropped}}
	}
	for _, kv := range []*model.KVPair{e.New, e.Old} {
		if kv != nil {
			w.client.compacted.Store(max(w.client.compacted.Load(), revision(kv.Revision)))
		}
	}
	return bapi.WatchEvent{Type: bapi.WatchError, Error: errCompacted}
}

// errCompacted has the text of etcd's error, whose type cannot be imported. The syncer treats both
// like any other error.
var errCompacted = errors.New("etcdserver: mvcc: required revision has been compacted")

// compactedWatch is a watch from a compacted revision: it returns one error and ends.
type compactedWatch chan bapi.WatchEvent

func newCompactedWatch() compactedWatch {
	c := make(compactedWatch, 1)
	c <- bapi.WatchEvent{Type: bapi.WatchError, Error: errCompacted}
	close(c)
	return c
}

func (c compactedWatch) Stop()                              {}
func (c compactedWatch) HasTerminated() bool                { return true }
func (c compactedWatch) ResultChan() <-chan bapi.WatchEvent { return c }

// revision parses a revision of Calico; 0 if it is invalid.
func revision(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func (w *gatedWatch) pass(ctx context.Context, e bapi.WatchEvent) error {
	kv := e.New
	if kv == nil {
		kv = e.Old
	}
	d := Call{Verb: "Hear", Gone: e.Type == bapi.WatchDeleted}
	text := "HEAR "
	if kv != nil {
		d.Path, d.Out = Path(kv.Key), copied(kv)
		text += d.Path + " "
	}
	if e.Error != nil {
		d.Err = e.Error.Error()
	}
	op := sim.Op{Kind: sim.Event, Class: "watch", Key: text + "(" + string(e.Type) + ")", Faults: sim.Of(sim.Drop), Request: d.request()}
	if kv != nil {
		op.Faults |= sim.Of(sim.Gone)
	}
	return w.client.g.Pass(ctx, op, func(ctx context.Context) error {
		sim.Report(ctx, "", d)
		return nil
	})
}

// Stop ends the watch and its messages.
func (w *gatedWatch) Stop() { w.cancel(); w.from.Stop() }

// ResultChan has the events for the reader.
func (w *gatedWatch) ResultChan() <-chan bapi.WatchEvent { return w.to }

// HasTerminated reports whether no more events will come.
func (w *gatedWatch) HasTerminated() bool { return w.ended.Load() }
