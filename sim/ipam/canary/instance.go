package canary

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cloud"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// instance is the canary in one run. Its processes share no memory: they read everything from the
// store.
type instance struct {
	api      *kube.Server
	backends ipam.Backends
	cloud    *cloud.Cloud
	networks []model.Network
	stale    atomic.Bool // a ledger or a node changed since record was read
	// record is the answer of the last Observe.
	record model.Snapshot
}

// Add is one execution of the CNI plugin, an IPAM plugin.
func (i *instance) Add(ctx context.Context, g *sim.Gate, c ipam.Call) (r ipam.Result, err error) {
	g.Child(func() { r, err = i.add(ctx, g, c) })
	return r, err
}

func (i *instance) add(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
	p, d, err := i.plugin(g, c)
	if err != nil {
		return ipam.Result{}, err
	}
	var addr netip.Addr
	err = d.change(ctx, p.network.Name, func(l *ledger) (changed bool, err error) {
		if f := bugs[p.bug].begin; f != nil {
			if err := f(ctx, l); err != nil {
				return false, err
			}
		}
		addr, changed, err = l.add(&p, c)
		return changed, err
	})
	if err != nil {
		return ipam.Result{}, err
	}
	if err := i.note(ctx, g, p.notes, c, addr); err != nil {
		return ipam.Result{}, err
	}
	return ipam.Result{Addrs: []netip.Prefix{netip.PrefixFrom(addr, p.span().Prefix.Bits())}}, nil
}

// Del is one execution of the CNI plugin. It releases by container, so that a
// DEL that comes late cannot hurt a pod of the same name.
func (i *instance) Del(ctx context.Context, g *sim.Gate, c ipam.Call) (err error) {
	g.Child(func() { err = i.del(ctx, g, c) })
	return err
}

func (i *instance) del(ctx context.Context, g *sim.Gate, c ipam.Call) error {
	p, d, err := i.plugin(g, c)
	if err != nil {
		return err
	}
	if err := i.unnote(ctx, g, p.notes, c); err != nil {
		return err
	}
	return d.change(ctx, p.network.Name, func(l *ledger) (bool, error) {
		return l.release(func(k claim) bool { return k.Container == c.Container && k.Interface == c.Interface }), nil
	})
}

func (i *instance) plugin(g *sim.Gate, c ipam.Call) (policy, *client, error) {
	p, ok, err := parse(c.Network, c.Config)
	if err != nil {
		return policy{}, nil, err
	}
	if !ok {
		return policy{}, nil, fmt.Errorf("canary: %s is not a canary network", c.Network)
	}
	d, err := i.client(g)
	return p, d, err
}
