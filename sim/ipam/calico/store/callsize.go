package store

import "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

// Approximate memory of the parts of a record, measured in a cluster of 100 nodes with 30 pods each
// (TestCallSize).
const (
	PairBytes    = 250  // a key, a revision, and small fields
	ordinalBytes = 16   // an address of a block, free or not
	givenBytes   = 300  // one that is not: its attributes, which several records share
	objectBytes  = 2000 // a pool, a node, …
)

// Size is about how many bytes the call keeps: sim.Long.
func (c Call) Size() int { return sizeOf(c.In) + sizeOf(c.Out) }

func sizeOf(sent any) (n int) {
	switch x := sent.(type) {
	case *model.KVPair:
		if x != nil {
			return PairBytes + sizeOfValue(x.Value)
		}
	case *model.KVPairList:
		if x != nil {
			for _, kv := range x.KVPairs {
				n += sizeOf(kv)
			}
		}
	}
	return n
}

func sizeOfValue(v any) int {
	switch v := v.(type) {
	case *model.AllocationBlock:
		if v != nil {
			return ordinalBytes*(len(v.Allocations)+len(v.Unallocated)) + givenBytes*len(v.Attributes)
		}
	case *model.IPAMHandle, *model.BlockAffinity, *model.IPAMConfig, nil:
	default:
		return objectBytes
	}
	return 0
}

// Short is the call with only the keys and revisions of its content, and for a list without
// content.
func (c Call) Short() any {
	c.In, c.Out, c.Bare = bare(c.In), bare(c.Out), true
	return c
}

func bare(sent any) any {
	if kv, ok := sent.(*model.KVPair); ok && kv != nil {
		return &model.KVPair{Key: kv.Key, Revision: kv.Revision}
	}
	return nil
}
