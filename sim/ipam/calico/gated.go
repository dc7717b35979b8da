package calico

import (
	"context"
	"errors"
	"fmt"

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"

	"ipamsim/sim"
)

// gated is a datastore backend whose every call is a message of one process.
type gated struct {
	bapi.Client
	g *sim.Gate
}

// Call is one call of the datastore with its answer: the Detail of a step.
type Call struct {
	Verb string // Create Update Apply Delete Get List Watch
	Path string // Calico's own key, as in etcd
	Err  string
	// In is what was sent, Out what came back; KVPairs of upstream.
	In, Out any
}

func (c *gated) pass(ctx context.Context, verb, path string, write bool, in any, do func() (any, error)) error {
	op := sim.Op{Kind: sim.Read, Key: verb + " " + path, Hurts: sim.Of(sim.FailBefore), Fails: 1}
	if write {
		op.Kind = sim.Write
		op.Hurts |= sim.Of(sim.LoseReply)
	}
	var failed error
	err := c.g.Pass(ctx, op, func(ctx context.Context) error {
		out, err := do()
		d := Call{Verb: verb, Path: path, In: in, Out: out}
		note := "ok"
		if failed = err; err != nil {
			d.Err = err.Error()
			note = fmt.Sprintf("%T", err)
		}
		sim.Report(ctx, note, d)
		return nil
	})
	var f *sim.Fault
	if errors.As(err, &f) {
		return cerrors.ErrorDatastoreError{Err: f}
	}
	if err != nil {
		return err
	}
	return failed
}

func keyPath(k model.Key) string {
	p, err := model.KeyToDefaultPath(k)
	if err != nil {
		return fmt.Sprint(k)
	}
	return p
}

func (c *gated) one(ctx context.Context, verb string, k model.Key, write bool, in any, do func() (*model.KVPair, error)) (out *model.KVPair, err error) {
	err = c.pass(ctx, verb, keyPath(k), write, in, func() (any, error) {
		var err error
		out, err = do()
		return out, err
	})
	var lost cerrors.ErrorDatastoreError
	if errors.As(err, &lost) {
		if f := new(sim.Fault); errors.As(lost.Err, &f) {
			return nil, err // the reply was lost: its content too
		}
	}
	return out, err
}

func (c *gated) Create(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Create", o.Key, true, o, func() (*model.KVPair, error) { return c.Client.Create(ctx, o) })
}

func (c *gated) Update(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Update", o.Key, true, o, func() (*model.KVPair, error) { return c.Client.Update(ctx, o) })
}

func (c *gated) Apply(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Apply", o.Key, true, o, func() (*model.KVPair, error) { return c.Client.Apply(ctx, o) })
}

func (c *gated) Delete(ctx context.Context, k model.Key, rev string) (*model.KVPair, error) {
	return c.one(ctx, "Delete", k, true, nil, func() (*model.KVPair, error) { return c.Client.Delete(ctx, k, rev) })
}

func (c *gated) DeleteKVP(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	return c.one(ctx, "Delete", o.Key, true, o, func() (*model.KVPair, error) { return c.Client.DeleteKVP(ctx, o) })
}

func (c *gated) Get(ctx context.Context, k model.Key, rev string) (*model.KVPair, error) {
	return c.one(ctx, "Get", k, false, nil, func() (*model.KVPair, error) { return c.Client.Get(ctx, k, rev) })
}

func (c *gated) List(ctx context.Context, l model.ListInterface, rev string) (out *model.KVPairList, err error) {
	err = c.pass(ctx, "List", model.ListOptionsToDefaultPathRoot(l), false, nil, func() (any, error) {
		var err error
		out, err = c.Client.List(ctx, l, rev)
		return out, err
	})
	return out, err
}

// Watch is a message; so is, once it is open, every event of it.
func (c *gated) Watch(ctx context.Context, l model.ListInterface, o bapi.WatchOptions) (w bapi.WatchInterface, err error) {
	err = c.pass(ctx, "Watch", model.ListOptionsToDefaultPathRoot(l), false, nil, func() (any, error) {
		var err error
		w, err = c.Client.Watch(ctx, l, o)
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	return newGatedWatch(ctx, c.g, w), nil
}
