package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/sim"
)

// Call is one call of the etcdv3 datastore with its answer, or one event of a
// watch: the Detail of a step.
type Call struct {
	Verb string // Create Update Apply Delete Get List Watch Hear
	Path string // Calico's own key, as in etcd; of a List or a Watch its root
	Err  string
	Gone bool // Hear: the object was deleted
	// In is what was sent and Out what was returned, as they were at that moment: a *model.KVPair
	// of upstream, the *model.KVPairList of a List, or nil.
	In, Out any
	// Bare: the trace had no room for what In and Out were, only for their keys.
	Bare bool
}

// request is the call as a schedule sees it.
func (c Call) request() *sim.Request {
	r := &sim.Request{Verb: c.Verb, Path: strings.TrimSuffix(c.Path, "/")}
	if c.Verb == "Hear" {
		r.Verb = "HEAR"
	}
	parts := strings.Split(r.Path, "/") // "", "calico", …
	switch {
	case len(parts) > 5 && parts[2] == "resources": // v3/projectcalico.org/KIND/NAME
		r.Resource = parts[5]
	case len(parts) > 4 && parts[2] == "ipam":
		r.Resource = sections[parts[4]]
	case len(parts) > 2:
		r.Resource = parts[2]
	}
	if len(parts) > 5 {
		r.Name = parts[len(parts)-1]
	}
	return r
}

// Wrote is the state in which the call left its object, as readers see it except for revisions;
// object is "" if the call wrote nothing. known is false if the state is not known.
func (c Call) Wrote() (object string, state []byte, known bool) {
	switch kv, _ := c.In.(*model.KVPair); {
	case c.Bare:
		return "", nil, false
	case c.Err != "":
		return "", nil, true
	case c.Verb == "Delete":
		return c.Path, nil, true
	case kv == nil:
		return "", nil, false
	default:
		state, err := model.SerializeValue(kv)
		return c.Path, state, err == nil
	}
}

// sections are what stands below /calico/ipam/v2.
//
// Source: libcalico-go/lib/backend/model: BlockKey, BlockAffinityKey,
// IPAMHandleKey, IPAMConfigKey, IPAMHostKey (v3.31).
var sections = map[string]string{"assignment": "block", "host": "affinity", "handle": "handle", "config": "ipamconfig"}

// copied is a copy of a KVPair that upstream may change: the allocator modifies the block that it
// read, and a report would otherwise show the modified one.
func copied(kv *model.KVPair) any {
	if kv == nil {
		return nil
	}
	out := *kv
	switch v := kv.Value.(type) {
	case *model.AllocationBlock:
		out.Value = copiedBlock(v)
	case *model.IPAMHandle:
		h := *v
		h.Block = maps.Clone(v.Block)
		out.Value = &h
	case *model.BlockAffinity:
		a := *v
		out.Value = &a
	}
	return &out
}

func copiedBlock(b *model.AllocationBlock) *model.AllocationBlock {
	if b == nil {
		return nil
	}
	out := *b
	out.Allocations = slices.Clone(b.Allocations)
	ordinals := make([]int, len(b.Allocations))
	for i, a := range b.Allocations {
		if a != nil {
			ordinals[i] = *a
			out.Allocations[i] = &ordinals[i]
		}
	}
	out.Unallocated = slices.Clone(b.Unallocated)
	out.Attributes = slices.Clone(b.Attributes) // its maps are never changed once they are in a block
	out.SequenceNumberForAllocation = maps.Clone(b.SequenceNumberForAllocation)
	return &out
}

// Path is a key as it is in etcd.
func Path(k model.Key) string {
	p, err := model.KeyToDefaultPath(k)
	if err != nil {
		return fmt.Sprint(k)
	}
	return p
}
