package mixed

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// instance is both managers within one run.
type instance struct {
	first, second ipam.Instance
	of            map[string]*ipam.Instance // by network
	others        []model.Network           // the second one's networks
	name          string                    // of the first one's; see named
}

// join puts the two next to each other. Objects that are not the Kubernetes API's and a
// tool's commands are the first one's.
func join(first, second ipam.Instance, networks []model.Network) ipam.Instance {
	i := &instance{first: first, second: second, of: map[string]*ipam.Instance{}}
	for _, n := range networks {
		i.of[n.Key] = &i.second
		if n.Blocks != nil { // addresses from blocks are what makes a primary network
			i.of[n.Key], i.name = &i.first, n.Name
		} else {
			i.others = append(i.others, n)
		}
	}
	run := map[string]ipam.Run{}
	maps.Copy(run, first.Run)
	maps.Copy(run, second.Run)
	return ipam.Instance{
		Add: i.add, Del: i.del, Run: run, Observe: i.observe, Act: i.act, Adopt: i.adopt,
		Keep: first.Keep, Command: first.Command,
	}
}

// add is an ADD of the manager of the network.
func (i *instance) add(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
	in, err := i.whose(c)
	if err != nil {
		return ipam.Result{}, err
	}
	return in.Add(ctx, g, c)
}

// del is a DEL of the manager of the network.
func (i *instance) del(ctx context.Context, g *sim.Gate, c ipam.Call) error {
	in, err := i.whose(c)
	if err != nil {
		return err
	}
	return in.Del(ctx, g, c)
}

// adopt adopts a sandbox for the manager of the network.
func (i *instance) adopt(ctx context.Context, c ipam.Call, addrs []netip.Addr) error {
	in, err := i.whose(c)
	if err != nil || in.Adopt == nil {
		return err
	}
	return in.Adopt(ctx, c, addrs)
}

func (i *instance) whose(c ipam.Call) (*ipam.Instance, error) {
	if in := i.of[c.Network]; in != nil {
		return in, nil
	}
	return nil, fmt.Errorf("mixed: no manager serves network %q", c.Network)
}

// observe reads both records.
func (i *instance) observe(ctx context.Context) (model.Snapshot, error) {
	s, err := i.first.Observe(ctx)
	if err != nil {
		return model.Snapshot{}, err
	}
	i.named(&s)
	more, err := i.second.Observe(ctx)
	if err != nil {
		return model.Snapshot{}, err
	}
	if s.Networks != nil {
		s.Networks = append(s.Networks[:len(s.Networks):len(s.Networks)], i.others...)
	}
	s.Pools = merge(s.Pools, more.Pools, func(a, b model.Pool) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Range.Addr().Compare(b.Range.Addr()), cmp.Compare(a.Name, b.Name))
	})
	s.Claims = merge(s.Claims, more.Claims, func(a, b model.Claim) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Addr.Compare(b.Addr))
	})
	s.Reservations = append(s.Reservations[:len(s.Reservations):len(s.Reservations)], more.Reservations...)
	s.Affinities = append(s.Affinities[:len(s.Affinities):len(s.Affinities)], more.Affinities...)
	s.Handles = append(s.Handles[:len(s.Handles):len(s.Handles)], more.Handles...)
	return s, nil
}

// named gives the first manager's network a name in its record. Alone it needs none. But most
// networks of the second manager have none either, and nameless networks count as one network: two
// overlapping ranges of Whereabouts were taken for overlapping blocks.
func (i *instance) named(s *model.Snapshot) {
	s.Networks, s.Pools, s.Claims = slices.Clone(s.Networks), slices.Clone(s.Pools), slices.Clone(s.Claims)
	for n := range s.Networks {
		s.Networks[n].Name = cmp.Or(s.Networks[n].Name, i.name)
	}
	for n := range s.Pools {
		s.Pools[n].Network = cmp.Or(s.Pools[n].Network, i.name)
	}
	for n := range s.Claims {
		s.Claims[n].Network = cmp.Or(s.Claims[n].Network, i.name)
	}
}

// merge returns one sorted list of two, and does not modify them.
func merge[T any](a, b []T, order func(a, b T) int) []T {
	out := slices.Concat(a, b)
	slices.SortStableFunc(out, order)
	return out
}

// act is the act of the manager of the message.
func (i *instance) act(detail any) act.Act {
	if a := i.first.Act(detail); a.Verb != "" {
		return a
	}
	return i.second.Act(detail)
}
