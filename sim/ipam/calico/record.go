package calico

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// ErrMalformed is wrapped by an Observe that met an object which cannot be
// decoded, or which contradicts itself.
var ErrMalformed = errors.New("malformed object")

// record is what the datastore claims, kept up to date by its changes. A change
// is only noted when it happens, and decoded when somebody looks: a run that
// nobody judges pays nothing, and looking costs nothing while nothing changes.
type record struct {
	v4, v6 bool // what the CNI configuration asks for

	mu      sync.Mutex
	pending map[string]reader // by key of the store
	bad     map[string]error  // what cannot be read, until it is mended or gone

	blocks     section[block]
	affinities section[model.Affinity]
	handles    section[model.Handle]
	policy     policy
	snapshot   model.Snapshot

	emptied map[string]reader // revision of a write that released addresses → the block before it
}

// reader decodes one stored object, or is nil for one that was deleted. A nil
// KVPair is an object that says nothing about addresses.
type reader func() (*bmodel.KVPair, error)

// newRecord reads what is stored and follows what changes, without a message.
func newRecord(env ipam.Env) (*record, error) {
	r := blankRecord()
	if n := model.NetworkByKey(env.Networks, networkKey); n != nil && n.Blocks != nil {
		r.v4, r.v6 = n.Blocks.V4, n.Blocks.V6
	}
	if env.Datastore == kubernetesDatastore {
		return r, r.followKube(env.API)
	}
	r.followEtcd(env.Store)
	return r, nil
}

func blankRecord() *record {
	return &record{
		v4: true, pending: map[string]reader{}, bad: map[string]error{},
		blocks:     section[block]{order: func(a, b block) int { return comparePools(a.Pool, b.Pool) }},
		affinities: section[model.Affinity]{order: compareAffinities},
		handles:    section[model.Handle]{order: func(a, b model.Handle) int { return cmp.Compare(a.ID, b.ID) }},
		policy:     newPolicy(), emptied: map[string]reader{},
	}
}

// note remembers that an object changed.
func (r *record) note(key string, read reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[key] = read
}

func (r *record) noteEmptied(revision int64, before reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.emptied[strconv.FormatInt(revision, 10)] = before
}

// before is a block as it was before a write that released some of its addresses,
// or nil: what was written no longer says which.
func (r *record) before(revision string) *bmodel.AllocationBlock {
	r.mu.Lock()
	read := r.emptied[revision]
	r.mu.Unlock()
	if read == nil {
		return nil
	}
	kv, err := read()
	if err != nil || kv == nil {
		return nil
	}
	b, _ := kv.Value.(*bmodel.AllocationBlock)
	return b
}

// Observe is the record as of the last change. The snapshot is shared between
// calls and must not be changed; At is left to the caller. Claims come in the
// order of their pools.
//
// It returns an error wrapping ErrMalformed, and the zero Snapshot, as long as an
// object is stored that cannot be decoded. An object that upstream has marked as
// deleted, on the way to deleting it, is gone.
//
// Source: libcalico-go/lib/backend/model (v3.31).
func (i *instance) Observe(context.Context) (model.Snapshot, error) { return i.record.observe() }

func (r *record) observe() (model.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, read := range r.pending {
		r.take(key, read)
	}
	clear(r.pending)
	if len(r.bad) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(r.bad)))
		return model.Snapshot{}, fmt.Errorf("calico: %s: %w: %w", first, ErrMalformed, r.bad[first])
	}
	if r.blocks.changed() {
		blocks := r.blocks.lend()
		n := 0
		for i := range blocks {
			n += len(blocks[i].claims)
		}
		pools, claims := make([]model.Pool, 0, len(blocks)), make([]model.Claim, 0, n)
		for i := range blocks {
			pools = append(pools, blocks[i].Pool)
			claims = append(claims, blocks[i].claims...)
		}
		r.snapshot.Pools, r.snapshot.Claims = pools, claims
	}
	r.snapshot.Affinities = r.affinities.lend()
	r.snapshot.Handles = r.handles.lend()
	if r.policy.changed {
		r.snapshot.Networks = []model.Network{r.policy.network(r.v4, r.v6)}
	}
	return r.snapshot, nil
}

// take brings one object up to date.
func (r *record) take(key string, read reader) {
	delete(r.bad, key)
	var kv *bmodel.KVPair
	if read != nil {
		var err error
		if kv, err = read(); err != nil {
			r.bad[key] = err
		}
	}
	if kv != nil && r.bad[key] == nil {
		ok, err := r.file(key, kv)
		if ok && err == nil {
			return
		}
		if err != nil {
			r.bad[key] = err
		}
	}
	r.blocks.drop(key)
	r.affinities.drop(key)
	r.handles.drop(key)
	r.policy.drop(key)
}

// file puts an object into its section. ok is false if it does not count.
func (r *record) file(key string, kv *bmodel.KVPair) (ok bool, err error) {
	switch v := kv.Value.(type) {
	case *bmodel.AllocationBlock:
		b, err := readBlock(kv)
		if err != nil || v.Deleted {
			return false, err
		}
		r.blocks.put(key, b)
	case *bmodel.BlockAffinity:
		a, err := readAffinity(kv)
		if err != nil || v.Deleted {
			return false, err
		}
		r.affinities.put(key, a)
	case *bmodel.IPAMHandle:
		h, err := readHandle(kv)
		if err != nil || v.Deleted {
			return false, err
		}
		r.handles.put(key, h)
	case *bmodel.IPAMConfig:
		r.policy.setConfig(key, v)
	case *apiv3.IPPool:
		return true, r.policy.setPool(key, v)
	case *apiv3.IPReservation:
		r.policy.setReservation(key, v)
	case *libapiv3.Node:
		r.policy.setNode(key, v)
	default:
		return false, nil
	}
	return true, nil
}

func comparePools(a, b model.Pool) int {
	return cmp.Or(cmp.Compare(a.Network, b.Network), a.Range.Compare(b.Range))
}

func compareAffinities(a, b model.Affinity) int {
	return cmp.Or(a.Block.Compare(b.Block), cmp.Compare(a.Node, b.Node))
}
