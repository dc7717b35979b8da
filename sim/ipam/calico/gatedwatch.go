package calico

import (
	"context"
	"errors"
	"sync/atomic"

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"

	"ipamsim/sim"
)

// gatedWatch puts the gate between a watch of the datastore and its reader: what
// a watch shows, and when, is the schedule's. How far a syncer lags behind is
// the delay of these messages. A watch that the schedule drops ends with an
// error, and the event with it.
type gatedWatch struct {
	from   bapi.WatchInterface
	to     chan bapi.WatchEvent
	cancel context.CancelFunc
	ended  atomic.Bool
}

func newGatedWatch(ctx context.Context, g *sim.Gate, from bapi.WatchInterface) *gatedWatch {
	ctx, cancel := context.WithCancel(ctx)
	w := &gatedWatch{from: from, to: make(chan bapi.WatchEvent), cancel: cancel}
	go w.move(ctx, g)
	return w
}

var errDropped = errors.New("etcdserver: no leader")

func (w *gatedWatch) move(ctx context.Context, g *sim.Gate) {
	defer w.ended.Store(true)
	defer close(w.to)
	defer w.from.Stop()
	for {
		select {
		case e, ok := <-w.from.ResultChan():
			if !ok {
				return
			}
			err := w.pass(ctx, g, e)
			if f := new(sim.Fault); errors.As(err, &f) {
				e = bapi.WatchEvent{Type: bapi.WatchError, Error: cerrors.ErrorDatastoreError{Err: errDropped}}
			} else if err != nil {
				return
			}
			select {
			case w.to <- e:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (w *gatedWatch) pass(ctx context.Context, g *sim.Gate, e bapi.WatchEvent) error {
	kv := e.New
	if kv == nil {
		kv = e.Old
	}
	d := Call{Verb: "Hear", Path: "(" + string(e.Type) + ")"}
	if kv != nil {
		d.Path = keyPath(kv.Key) + " " + d.Path
		d.Out = copied(kv)
	}
	if e.Error != nil {
		d.Err = e.Error.Error()
	}
	op := sim.Op{Kind: sim.Event, Class: "watch", Key: "HEAR " + d.Path, Hurts: sim.Of(sim.Drop)}
	return g.Pass(ctx, op, func(ctx context.Context) error {
		sim.Report(ctx, "", d)
		return nil
	})
}

// Stop ends the watch and its messages.
func (w *gatedWatch) Stop() { w.cancel(); w.from.Stop() }

// ResultChan is what the reader hears.
func (w *gatedWatch) ResultChan() <-chan bapi.WatchEvent { return w.to }

// HasTerminated reports whether it will hear nothing more.
func (w *gatedWatch) HasTerminated() bool { return w.ended.Load() }
