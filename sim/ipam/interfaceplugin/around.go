package interfaceplugin

import (
	"context"
	"errors"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// Around is an address manager with the plugins of each network around it, as libcni executes
// them: ADD in the order of the list up to the first failure, after which nothing is undone;
// DEL in reverse order, and also up to the first failure.
//
// Source: containernetworking/cni, libcni/api.go, AddNetworkList and DelNetworkList (v1.3.0).
func Around(in ipam.Instance, f *Faults) ipam.Instance {
	out, a := in, around{in, f}
	if in.Add != nil {
		out.Add, out.Del = a.add, a.del
	}
	return out
}

// around is the manager that is executed, and the faults that its plugins meet.
type around struct {
	ipam.Instance
	*Faults
}

func (a around) add(ctx context.Context, g *sim.Gate, c ipam.Call) (r ipam.Result, err error) {
	chain := a.chains[c.Network]
	for i, t := range chain.Types {
		if i == chain.Main {
			r, err = a.mainAdd(ctx, g, a.withFails(c, chain), chain)
		} else {
			err = a.of(c.Node, t, "ADD", false)
		}
		if err != nil {
			return ipam.Result{}, err
		}
	}
	return r, nil
}

func (a around) del(ctx context.Context, g *sim.Gate, c ipam.Call) (err error) {
	chain := a.chains[c.Network]
	for i := len(chain.Types) - 1; i >= 0 && err == nil; i-- {
		if i == chain.Main {
			err = a.mainDel(ctx, g, a.withFails(c, chain), chain)
		} else {
			err = a.of(c.Node, chain.Types[i], "DEL", false)
		}
	}
	return err
}

// withFails is the call of the plugin that makes the interface.
func (a around) withFails(c ipam.Call, chain Chain) ipam.Call {
	c.Fails = func(command string) error { return a.of(c.Node, chain.main(), command, true) }
	return c
}

// errNoAddress is what interface plugins make of an IPAM plugin that gives no address.
var errNoAddress = errors.New("IPAM plugin returned missing IP config")

// mainAdd is the ADD of the plugin that makes the interface. A process that was killed does
// nothing more.
func (a around) mainAdd(ctx context.Context, g *sim.Gate, c ipam.Call, chain Chain) (ipam.Result, error) {
	r, err := a.Add(ctx, g, c)
	if err != nil || ctx.Err() != nil || chain.own {
		return r, err
	}
	p := of(chain.main())
	undo := p.Undoes
	if len(r.Addrs)+len(r.Static) == 0 {
		err, undo = errNoAddress, p.UndoesEmpty
	} else {
		err = c.Fails("ADD")
	}
	if err != nil && undo {
		_ = a.Del(ctx, g, c)
	}
	return r, err
}

// mainDel is its DEL. Without a network namespace there is no interface to remove, so it cannot
// fail. A failure after the IPAM plugin counts as success: no check depends on whether the kernel
// kept an interface whose address is released.
func (a around) mainDel(ctx context.Context, g *sim.Gate, c ipam.Call, chain Chain) error {
	p := of(chain.main())
	switch {
	case chain.own:
		return a.Del(ctx, g, c)
	case c.Netns == "" && p.NeedsNamespace:
		return nil
	case c.Netns != "" && p.LinkFirst:
		if err := c.Fails("DEL"); err != nil {
			return err
		}
	}
	if err := a.Del(ctx, g, c); err != nil || ctx.Err() != nil || c.Netns == "" || p.LinkFirst {
		return err
	}
	err := c.Fails("DEL")
	if err != nil && c.Unplug != nil {
		c.Unplug()
	}
	return err
}
