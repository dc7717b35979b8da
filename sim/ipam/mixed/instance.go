package mixed

import (
	"cmp"
	"context"
	"fmt"
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
	of            map[string]ipam.Instance // by network
	others        []model.Network          // the second one's networks
	name          string                   // of the first one's; see named
}

var (
	_ ipam.Adopter   = (*instance)(nil)
	_ ipam.Exporter  = (*instance)(nil)
	_ ipam.Keeper    = (*instance)(nil)
	_ ipam.Commander = (*instance)(nil)
)

// Add is an ADD of the manager whose network it is.
func (i *instance) Add(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
	in, err := i.whose(c)
	if err != nil {
		return ipam.Result{}, err
	}
	return in.Add(ctx, g, c)
}

// Del is a DEL of the manager whose network it is.
func (i *instance) Del(ctx context.Context, g *sim.Gate, c ipam.Call) error {
	in, err := i.whose(c)
	if err != nil {
		return err
	}
	return in.Del(ctx, g, c)
}

func (i *instance) whose(c ipam.Call) (ipam.Instance, error) {
	if in := i.of[c.Network]; in != nil {
		return in, nil
	}
	return nil, fmt.Errorf("mixed: nobody serves network %q", c.Network)
}

// Reconcilers are those of both.
func (i *instance) Reconcilers() []ipam.Reconciler {
	return append(i.first.Reconcilers(), i.second.Reconcilers()...)
}

// Observe reads both records.
func (i *instance) Observe(ctx context.Context) (model.Snapshot, error) {
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

// named gives the first one's network a name in its record. Alone it needs none;
// but neither do most of the second one's, and what has no name is then one network:
// two overlapping ranges of Whereabouts were taken for blocks that overlap.
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

// merge makes one sorted list of two, whose memory it leaves alone.
func merge[T any](a, b []T, order func(a, b T) int) []T {
	out := slices.Concat(a, b)
	slices.SortStableFunc(out, order)
	return out
}

// Act is that of the one whose message it is.
func (i *instance) Act(detail any) act.Act {
	if a := i.first.Act(detail); a.Verb != "" {
		return a
	}
	return i.second.Act(detail)
}

// Keeps, Change and Names are the first one's, if it keeps objects itself.
func (i *instance) Keeps(kind string) bool {
	k, ok := i.first.(ipam.Keeper)
	return ok && k.Keeps(kind)
}

// Change is called for kinds that Keeps names.
func (i *instance) Change(ctx context.Context, g *sim.Gate, v ipam.Verb, o ipam.Object) error {
	return i.first.(ipam.Keeper).Change(ctx, g, v, o)
}

// Names is called for kinds that Keeps names.
func (i *instance) Names(ctx context.Context, g *sim.Gate, kind string) ([]string, error) {
	return i.first.(ipam.Keeper).Names(ctx, g, kind)
}

// Adopt is for the manager whose network it is.
func (i *instance) Adopt(ctx context.Context, c ipam.Call, addrs []netip.Addr) error {
	in, err := i.whose(c)
	if a, ok := in.(ipam.Adopter); ok {
		return a.Adopt(ctx, c, addrs)
	}
	return err
}

// Export is the first one's.
func (i *instance) Export(ctx context.Context) ([]ipam.Object, error) {
	return i.first.(ipam.Exporter).Export(ctx)
}

// Command is the first one's tool.
func (i *instance) Command(ctx context.Context, g *sim.Gate, argv []string) (string, error) {
	return i.first.(ipam.Commander).Command(ctx, g, argv)
}
