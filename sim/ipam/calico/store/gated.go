package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"

	"ipamsim/sim"
	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// gated is a datastore backend whose every call is a message of one process.
//
// A call with a fault fails as etcd's client does: after FailBefore it never reached etcd, after
// LoseReply it took effect. See package answer. A watch that loses its connection resumes by
// itself.
type gated struct {
	bapi.Client
	g *sim.Gate
	// compacted is the revision before which the schedule has taken the history
	// away from this process (sim.Gone): no watch can begin there any more.
	compacted atomic.Int64
}

func (c *gated) pass(ctx context.Context, d Call, write bool, do func(*Call) error) error {
	op, meets := sim.Op{Kind: sim.Read, Key: d.Verb + " " + d.Path, Faults: sim.Of(sim.FailBefore), Request: d.request()}, answer.Read
	if write {
		op.Kind, meets = sim.Write, answer.Write
		op.Faults |= sim.Of(sim.LoseReply)
	}
	if d.Verb == "Watch" {
		op.Kind = sim.Watch
	}
	op.Fails, op.Loses = answer.Ways(answer.Etcd, meets)
	err := c.g.Pass(ctx, op, func(ctx context.Context) error {
		err := do(&d)
		note := "ok"
		if err != nil {
			d.Err = err.Error()
			note = fmt.Sprintf("%T", err)
		}
		sim.Report(ctx, note, d)
		return err
	})
	var f *sim.Fault
	if errors.As(err, &f) {
		a := answer.Of(answer.Etcd, meets, way.Way(f.Level))
		return cerrors.ErrorDatastoreError{Err: &hurt{a.Wait(ctx), f}, Identifier: d.Path}
	}
	if err != nil && (errors.Is(err, sim.ErrKilled) || ctx.Err() != nil && errors.Is(err, ctx.Err())) {
		return cerrors.ErrorDatastoreError{Err: err, Identifier: d.Path}
	}
	return err
}

// hurt is an error of an injected fault.
type hurt struct {
	error
	fault *sim.Fault
}

// Unwrap returns the fault, for errors.As.
func (h *hurt) Unwrap() error { return h.fault }

// one is a call about one key. Its answer is nil if the reply was lost.
func (c *gated) one(ctx context.Context, verb string, k model.Key, in *model.KVPair, do func() (*model.KVPair, error)) (*model.KVPair, error) {
	var out *model.KVPair
	d := Call{Verb: verb, Path: Path(k), In: copied(in)}
	err := c.pass(ctx, d, verb != "Get", func(d *Call) (err error) {
		out, err = do()
		d.Out = copied(out)
		return err
	})
	if f := new(sim.Fault); errors.As(err, &f) {
		return nil, err
	}
	return out, err
}

// Create is one message.
func (c *gated) Create(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Create", o.Key, o, func() (*model.KVPair, error) { return c.Client.Create(ctx, o) })
}

// Update is one message.
func (c *gated) Update(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Update", o.Key, o, func() (*model.KVPair, error) { return c.Client.Update(ctx, o) })
}

// Apply is one message.
func (c *gated) Apply(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Apply", o.Key, o, func() (*model.KVPair, error) { return c.Client.Apply(ctx, o) })
}

// Delete is one message.
func (c *gated) Delete(ctx context.Context, k model.Key, rev string) (*model.KVPair, error) {
	return c.one(ctx, "Delete", k, nil, func() (*model.KVPair, error) { return c.Client.Delete(ctx, k, rev) })
}

// DeleteKVP is one message.
func (c *gated) DeleteKVP(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Delete", o.Key, o, func() (*model.KVPair, error) { return c.Client.DeleteKVP(ctx, o) })
}

// Get is one message.
func (c *gated) Get(ctx context.Context, k model.Key, rev string) (*model.KVPair, error) {
	return c.one(ctx, "Get", k, nil, func() (*model.KVPair, error) { return c.Client.Get(ctx, k, rev) })
}

// List is one message.
func (c *gated) List(ctx context.Context, l model.ListInterface, rev string) (*model.KVPairList, error) {
	var out *model.KVPairList
	d := Call{Verb: "List", Path: model.ListOptionsToDefaultPathRoot(l)}
	err := c.pass(ctx, d, false, func(d *Call) (err error) {
		if out, err = c.Client.List(ctx, l, rev); out != nil {
			d.Out = out
		}
		return err
	})
	return out, err
}

// Watch is a message, and after it is open, every event of it is one.
func (c *gated) Watch(ctx context.Context, l model.ListInterface, o bapi.WatchOptions) (bapi.WatchInterface, error) {
	var w bapi.WatchInterface
	d := Call{Verb: "Watch", Path: model.ListOptionsToDefaultPathRoot(l)}
	err := c.pass(ctx, d, false, func(*Call) (err error) {
		w, err = c.Client.Watch(ctx, l, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	if rev := revision(o.Revision); 0 < rev && rev < c.compacted.Load() {
		w.Stop()
		w = newCompactedWatch()
	}
	return newGatedWatch(ctx, c, w), nil
}
