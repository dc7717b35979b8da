package calico

import (
	"errors"
	"net/netip"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
)

// The kinds of steps.
const (
	// CreatePool is refused as long as blocks of another size lie in the pool, as
	// calicoctl and Calico's API server do.
	CreatePool  workload.StepKind = "create-pool"
	DisablePool workload.StepKind = "disable-pool" // it hands out no address from now on
	// DeletePool deletes a pool as calicoctl does: nodes lose their affinities to its blocks,
	// empty blocks are deleted, and the other blocks have no owner.
	DeletePool workload.StepKind = "delete-pool"
	// TypeAffinities gives BlockAffinities that an older Calico wrote the type that it
	// did not know: host. v3.31 takes one without it for another's when it deletes a
	// pool: the affinity goes, and the block stays, even an empty one.
	//
	// Source: libcalico-go/lib/ipam, affinityConfigsByBlocks and affinityMatches.
	TypeAffinities workload.StepKind = "type-affinities"
	// Configure replaces IPAMConfig.
	Configure workload.StepKind = "configure"
)

// Change is what a step changes.
type Change struct {
	// Pool is the IPPool that is created, disabled or deleted, and Routing that of one
	// that is created.
	Pool    reference.Pool
	Routing Routing
	// Settings are the IPAMConfig from now on.
	Settings reference.Config
	// Affinities are the blocks whose BlockAffinities get a type.
	Affinities []netip.Prefix
}

// OfPool is a step that is about a pool.
func OfPool(kind workload.StepKind, p reference.Pool, r Routing) workload.Step {
	return workload.Step{Kind: kind, Pool: p.Name, CIDR: p.Prefix, BlockBits: p.BlockBits, Change: Change{Pool: p, Routing: r}}
}

// step changes Calico's pools, or its configuration. Nodes then look after their
// tunnel addresses, one after the other.
func (m *allocator) step(s *workload.Step) error {
	var err error
	change, _ := s.Change.(Change)
	switch s.Kind {
	case CreatePool:
		m.routing[s.Pool] = change.Routing
		m.pools[s.Pool] = change.Pool
		err = m.a.CreatePool(change.Pool)
	case DisablePool:
		if x, ok := m.a.Pool(s.Pool); ok {
			x.Disabled = true
			err = m.a.StorePool(x)
		}
	case DeletePool:
		err = m.a.DeletePool(s.Pool)
	case Configure:
		m.a.Config = change.Settings
	case workload.RestartPods, TypeAffinities: // the reference knows of no types
		return nil
	}
	switch {
	case errors.Is(err, reference.ErrConflict) || errors.Is(err, reference.ErrExists) || errors.Is(err, reference.ErrNotFound):
		return capacity.Refused(err)
	case err != nil:
		return err
	}
	for _, n := range m.p.Machines() {
		if n.Up && n.Registered {
			if err := m.up(n); err != nil {
				return err
			}
		}
	}
	return nil
}
