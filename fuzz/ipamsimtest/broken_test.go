package ipamsimtest_test

import (
	"context"
	"errors"
	"slices"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// spoiled changes the instances of a manager.
func spoiled(f func(*ipam.Instance)) func(*ipam.Manager) {
	return func(m *ipam.Manager) {
		open := m.Open
		m.Open = func(env ipam.Env) (ipam.Instance, error) {
			i, err := open(env)
			if err == nil {
				f(&i)
			}
			return i, err
		}
	}
}

// delOnce fails where there is nothing to release.
func delOnce(i *ipam.Instance) {
	added := map[string]bool{}
	add, del := i.Add, i.Del
	i.Add = func(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
		out, err := add(ctx, g, c)
		added[c.Container] = err == nil
		return out, err
	}
	i.Del = func(ctx context.Context, g *sim.Gate, c ipam.Call) error {
		if !added[c.Container] {
			return errors.New("not found")
		}
		err := del(ctx, g, c)
		added[c.Container] = err != nil
		return err
	}
}

// unwrapped loses the sentinel.
func unwrapped(i *ipam.Instance) {
	add := i.Add
	i.Add = func(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
		out, err := add(ctx, g, c)
		if err != nil {
			err = errors.New(err.Error())
		}
		return out, err
	}
}

// mute says nothing of any message.
func mute(i *ipam.Instance) { i.Act = func(any) act.Act { return act.Act{} } }

// shuffled has the claims in another order every other time.
func shuffled(i *ipam.Instance) {
	observe, odd := i.Observe, false
	i.Observe = func(ctx context.Context) (model.Snapshot, error) {
		s, err := observe(ctx)
		if odd = !odd; odd {
			s.Claims = slices.Clone(s.Claims)
			slices.Reverse(s.Claims)
		}
		return s, err
	}
}

// blind observes no claim.
func blind(i *ipam.Instance) {
	observe := i.Observe
	i.Observe = func(ctx context.Context) (model.Snapshot, error) {
		s, err := observe(ctx)
		s.Claims = nil
		return s, err
	}
}
