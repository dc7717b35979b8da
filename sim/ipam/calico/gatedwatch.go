package calico

import (
	"context"
	"fmt"
	"sync/atomic"

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"

	"ipamsim/sim"
)

// gatedWatch puts the gate between a watch of the datastore and its reader: what
// a watch shows, and when, is the schedule's. How far a syncer lags behind is
// the delay of these messages.
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

func (w *gatedWatch) move(ctx context.Context, g *sim.Gate) {
	defer w.ended.Store(true)
	defer close(w.to)
	for {
		select {
		case e, ok := <-w.from.ResultChan():
			if !ok {
				return
			}
			op := sim.Op{Kind: sim.Event, Class: "watch", Key: "HEAR " + describeWatch(e)}
			if g.Pass(ctx, op, func(context.Context) error { return nil }) != nil {
				return
			}
			select {
			case w.to <- e:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func describeWatch(e bapi.WatchEvent) string {
	kv := e.New
	if kv == nil {
		kv = e.Old
	}
	if kv == nil {
		return string(e.Type)
	}
	return fmt.Sprintf("%s %s", e.Type, keyPath(kv.Key))
}

// Stop ends the watch and its messages.
func (w *gatedWatch) Stop() { w.cancel(); w.from.Stop() }

// ResultChan is what the reader hears.
func (w *gatedWatch) ResultChan() <-chan bapi.WatchEvent { return w.to }

// HasTerminated reports whether it will hear nothing more.
func (w *gatedWatch) HasTerminated() bool { return w.ended.Load() }
