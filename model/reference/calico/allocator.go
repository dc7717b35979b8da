package calico

import (
	"errors"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Datastore is Calico's datastore. It determines the order in which a node's IPv6 blocks are tried,
// and which process deletes Calico's nodes.
type Datastore uint8

// Etcd is etcdv3, Kubernetes is custom resources.
const (
	Etcd Datastore = iota
	Kubernetes
)

// Why an operation is refused. Addresses that it took before the refusal may stay
// taken, as with upstream.
var (
	ErrNotModelled = errors.New("not modelled")
	ErrNoNode      = errors.New("no such node")
	ErrNoPool      = errors.New("no pool for this request")
	ErrBlockLimit  = errors.New("the node has as many blocks as it may have")
	ErrNoNewBlocks = errors.New("blocks are not allocated automatically")
	ErrExhausted   = errors.New("no address is left")
	ErrTaken       = errors.New("the address is taken")
	ErrNotAffine   = errors.New("strict affinity: the block is not the node's")
	ErrExists      = errors.New("exists already")
	ErrConflict    = errors.New("conflicts with what exists")
	ErrNotFound    = errors.New("does not exist")
	ErrNotEmpty    = errors.New("the block is not empty")
	ErrOutOfDate   = errors.New("the release is out of date")
)

// Config is IPAMConfig. Upstream's default, which New has, is automatic blocks
// alone.
type Config struct {
	Strict       bool // StrictAffinity
	AutoAllocate bool // AutoAllocateBlocks
	MaxBlocks    int  // MaxBlocksPerHost; 0 is 20
}

// Nondeterminism supplies the outcomes that upstream leaves to the Go runtime, for callers that
// have observed them.
type Nondeterminism interface {
	// Order sorts things into the order in which upstream processed them, which is the order of a
	// Go map. They come sorted: addresses of one block (as prefixes of one address), leaked
	// addresses without a pool, or spare blocks of one node.
	Order([]netip.Prefix)
	// Left is what a handle counts after an operation in which one call released
	// more than two addresses, some of them the handle's and in several blocks;
	// exists is false if it is gone. What cannot have happened is ignored.
	Left(handle string) (counts []model.HandleCount, exists bool)
}

// Allocator is the record and what changes it. It is not safe for concurrent use.
type Allocator struct {
	Config         Config
	Nondeterminism Nondeterminism // nil: see the package comment

	datastore Datastore
	pools     []*pool // by name
	reserved  []span
	hosts     map[string]*host
	orphans   map[*host]struct{} // etcdv3: Calico's nodes without a Kubernetes node
	places    map[netip.Prefix]*block
	sorted    []*block // those that exist
	sizes     map[size]*blockIndex
	handles   map[string]*handle
	spare     []*handle           // to be used again
	begins    [256]int            // how many handles there are, by begin
	sharings  map[string]*sharing // until the end of the operation
	passing   bool                // which is a collector's pass
	births    uint64              // how many blocks there have been
	lastAsked *Request            // for what
	totals    Totals
	crooked   int  // blocks that are not of the size of a pool that they overlap
	overlap   bool // pools do, or one is smaller than its blocks

	// What the collector that passed last has not seen yet.
	listener *Collector
	noted    []*block // that may have become something else
	turned   []string // nodes that came or went

	// Buffers for one request.
	what              Request
	who               user
	selected, allowed []*pool
	kept, leave       []*block
}

// New is an empty datastore.
func New(d Datastore) *Allocator {
	return &Allocator{
		Config: Config{AutoAllocate: true}, datastore: d,
		hosts: map[string]*host{}, orphans: map[*host]struct{}{}, places: map[netip.Prefix]*block{}, sizes: map[size]*blockIndex{},
		handles: map[string]*handle{}, sharings: map[string]*sharing{},
	}
}

// ordered sorts prefixes and then applies Nondeterminism.
func (a *Allocator) ordered(all []netip.Prefix) []netip.Prefix {
	slices.SortFunc(all, netip.Prefix.Compare)
	if a.Nondeterminism != nil && len(all) > 1 {
		a.Nondeterminism.Order(all)
	}
	return all
}
