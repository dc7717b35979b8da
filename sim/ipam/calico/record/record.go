package record

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/store"
)

// ErrMalformed is wrapped by an Observe that met an object which cannot be
// decoded, or which contradicts itself.
var ErrMalformed = errors.New("malformed object")

// NetworkKey is the name of Calico's network in its own CNI configuration, and
// the first part of every handle.
const NetworkKey = "k8s-pod-network"

// Record is the record in the datastore, updated by its changes. A change is only stored when it
// happens, and decoded at the next read. So a run without checks has no cost, and a read has no
// cost while nothing changes.
type Record struct {
	V4, V6 bool // families that the CNI configuration requests
	// PodRoutes: workload endpoints are derived from stored pods.
	PodRoutes bool

	mu      sync.Mutex
	pending map[string]Change // by key of the store
	bad     map[string]error  // errors of undecodable objects, until they are fixed or deleted

	blocks     section[block]
	affinities section[model.Affinity]
	handles    section[model.Handle]
	Policy     policy
	snapshot   model.Snapshot

	released map[string][]model.Claim // by revision of the write that released them
}

// reader decodes one stored object; nil for a deleted one. A nil KVPair is an object that does not
// concern addresses.
type reader func() (*bmodel.KVPair, error)

// Change is what became of an object.
type Change struct {
	Read  reader
	after string // the revision it had before, if that is known
}

// New reads the stored objects and follows their changes, without messages.
func New(env ipam.Env) (*Record, error) {
	r := Blank()
	if n := model.NetworkByKey(env.Networks, NetworkKey); n != nil && n.Blocks != nil {
		r.V4, r.V6 = n.Blocks.V4, n.Blocks.V6
	}
	if env.Datastore == store.Kubernetes {
		r.PodRoutes = true
		return r, r.followKube(env.API)
	}
	r.followEtcd(env.Store)
	return r, nil
}

func Blank() *Record {
	return &Record{
		V4: true, pending: map[string]Change{}, bad: map[string]error{},
		blocks:     section[block]{order: func(a, b block) int { return comparePools(a.Pool, b.Pool) }},
		affinities: section[model.Affinity]{order: compareAffinities},
		handles:    section[model.Handle]{order: func(a, b model.Handle) int { return cmp.Compare(a.ID, b.ID) }},
		Policy:     newPolicy(), released: map[string][]model.Claim{},
	}
}

// Note remembers that an object changed.
func (r *Record) Note(key string, c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[key] = c
}

// takenBy are the claims that the write of a revision released. The written object no longer
// contains them, so they are known only if the record was read before and after the write.
func (r *Record) takenBy(revision string) []model.Claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.released[revision]
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
func (r *Record) Observe() (model.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, c := range r.pending {
		r.take(key, c)
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
	if r.Policy.changed {
		n := r.Policy.Network(r.V4, r.V6)
		n.Blocks.PodRoutes = r.PodRoutes
		r.snapshot.Networks = []model.Network{n}
	}
	return r.snapshot, nil
}

// take brings one object up to date.
func (r *Record) take(key string, c Change) {
	delete(r.bad, key)
	if c.Read != nil {
		before := r.blocks.at[key]
		kv, err := c.Read()
		ok := false
		if err == nil && kv != nil {
			ok, err = r.File(key, kv)
		}
		if err != nil {
			r.bad[key] = err
		}
		if ok && err == nil {
			if gone := before.without(r.blocks.at[key]); len(gone) > 0 && before.revision == c.after {
				r.released[kv.Revision] = gone
			}
			return
		}
	}
	r.blocks.drop(key)
	r.affinities.drop(key)
	r.handles.drop(key)
	r.Policy.drop(key)
}

// File puts an object into its section. ok is false if it does not count.
func (r *Record) File(key string, kv *bmodel.KVPair) (ok bool, err error) {
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
		r.Policy.setConfig(key, v)
	case *apiv3.IPPool:
		return true, r.Policy.setPool(key, v)
	case *apiv3.IPReservation:
		r.Policy.setReservation(key, v)
	case *libapiv3.Node:
		r.Policy.SetNode(key, v)
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
