package record

import (
	"maps"
	"slices"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model"
	"ipamsim/model/act"
)

// block adds a block: how full it is; the owners of its addresses if it was read or deleted (and
// the old content is known, as with etcd); and of an update the addresses that it assigns and
// releases, as far as the record knows.
func (m *message) block(k bmodel.BlockKey, a *act.Act, r *Record) (known bool) {
	v, ok := m.value().(*bmodel.AllocationBlock)
	a.Thing = blockThing(k, v)
	switch {
	case !ok:
		return false
	case a.Verb == act.Read || a.Verb == act.Delete:
		if b, err := readBlock(&bmodel.KVPair{Value: v}); err == nil {
			a.Thing.Parts = owned(b.claims)
		}
	case a.Verb == act.Update:
		a.Gives = owned(fresh(v))
		if m.out != nil && r != nil && a.Outcome == act.Done { // otherwise the returned block is another process's
			a.Takes = owned(r.takenBy(m.out.Revision))
		}
	}
	return true
}

func blockThing(k bmodel.BlockKey, v *bmodel.AllocationBlock) act.Thing {
	t := act.Thing{Kind: act.Block, Name: k.CIDR.String()}
	if v == nil {
		return t
	}
	t.Owner, t.Size, t.Deleted = nodeRef(nodeOf(v.Affinity)), v.NumAddresses(), v.Deleted
	for _, a := range v.Allocations {
		if a != nil {
			t.Used++
		}
	}
	return t
}

// fresh are the claims that a write of a block makes: those with the sequence number that the block
// had before.
//
// Source: libcalico-go/lib/ipam, updateBlock, and AllocationBlock's
// SequenceNumberForAllocation (v3.31).
func fresh(b *bmodel.AllocationBlock) []model.Claim {
	var out []model.Claim
	p, ok := Prefix(b.CIDR)
	for ordinal, index := range b.Allocations {
		if ok && index != nil && b.GetSequenceNumberForOrdinal(ordinal)+1 == b.SequenceNumber {
			out = append(out, claimOf(b, p, ordinal, *index))
		}
	}
	return out
}

// owned are addresses with their owners: a pod, a node's tunnel, or else what
// there is.
func owned(claims []model.Claim) []act.Thing {
	var out []act.Thing
	for _, c := range claims {
		t := act.Thing{Kind: act.Address, Name: c.Addr.String(), Owner: nodeRef(c.Node)}
		switch {
		case c.Pod.Name != "":
			t.Owner = model.PodOf(c.Pod)
		case c.Tunnel:
			t.Owner.Kind = act.Tunnel
		case c.Service != "":
			t.Owner = model.ServiceOf(c.Service)
		case c.Handle != "":
			t.Owner = model.Ref{Kind: model.RefHandle, Name: c.Handle}
		}
		out = append(out, t)
	}
	return out
}

// affinity adds a node's claim to a block.
func (m *message) affinity(k bmodel.BlockAffinityKey, a *act.Act) (known bool) {
	v, ok := m.value().(*bmodel.BlockAffinity)
	a.Thing = affinityThing(k, v)
	return ok || a.Verb == act.Create
}

// affinityThing has a state also where upstream leaves it empty: data from before there
// were states.
func affinityThing(k bmodel.BlockAffinityKey, v *bmodel.BlockAffinity) act.Thing {
	t := act.Thing{Kind: act.Affinity, Name: k.CIDR.String(), Owner: nodeRef(k.Host), State: model.Confirmed}
	if v != nil {
		t.Deleted = v.Deleted
		if v.State != "" {
			t.State = string(v.State)
		}
	}
	return t
}

// handle adds the counts by which addresses are released.
func (m *message) handle(k bmodel.IPAMHandleKey, a *act.Act) (known bool) {
	v, ok := m.value().(*bmodel.IPAMHandle)
	a.Thing = handleThing(k, v)
	return ok
}

func handleThing(k bmodel.IPAMHandleKey, v *bmodel.IPAMHandle) act.Thing {
	t := act.Thing{Kind: act.Handle, Name: k.HandleID}
	if v == nil {
		return t
	}
	t.Deleted = v.Deleted
	for _, cidr := range slices.Sorted(maps.Keys(v.Block)) {
		t.Parts = append(t.Parts, act.Thing{Kind: act.Block, Name: cidr, Used: v.Block[cidr]})
	}
	return t
}
