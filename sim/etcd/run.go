package etcd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrEnded is what calls return once their run is over.
var ErrEnded = errors.New("etcd: the run is over")

// Run is the store as one run sees it. Its methods are for code inside the
// run's bubble.
type Run struct {
	srv    *Server
	base   base
	memory *memory // nil: etcd
	calls  atomic.Int64
	// Refuse returns the error with which etcd refuses a request; nil: it does not.
	Refuse func(request any) error

	mu       sync.Mutex // held across calls to the outside: one at a time
	history  history
	notified int   // first entry of history that subscribers have not got
	heard    int64 // revision of the one before it
	subs     []func(Event)
	watches  []*watch
	streams  map[string]*stream
	progress time.Duration // see NotifyProgress
	leases   map[int64]*lease
	grants   int64
	ended    bool
	due      atomic.Bool // Pump may have work
}

// Begin empties etcd for a new run and ends the previous run, whose bubble can no longer reach
// the store. Call it outside of bubbles. The first call starts etcd, unless Start did.
func (s *Server) Begin() (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.Store(nil)
	if err := s.start(); err != nil {
		return nil, err
	}
	first, err := s.store.wipe()
	if err != nil {
		return nil, fmt.Errorf("etcd: wipe: %w", err)
	}
	return s.begin(&Run{base: base(first - 1)}), nil
}

// BeginMemory is Begin on the memory store: the same answers, revisions and events, without
// etcd and without calls outside of the bubble.
func (s *Server) BeginMemory() *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.begin(&Run{})
	r.memory = newMemory(&r.history)
	return r
}

func (s *Server) begin(r *Run) *Run {
	r.srv, r.leases, r.streams, r.history, r.progress = s, map[int64]*lease{}, map[string]*stream{}, newHistory(), progressPeriod
	s.run.Store(r)
	return r
}

// Client returns a client of the store for use inside the bubble: KV, Txn, Watch and Lease
// work. Each call to etcd leaves the bubble, and virtual time does not advance during it. A
// user of KeepAlive closes its Lease before the bubble ends.
func (r *Run) Client() *clientv3.Client {
	c := clientv3.NewCtxClient(context.Background())
	c.KV = clientv3.NewKVFromKVClient(r.KV(), c)
	c.Watcher = &watcher{r}
	c.Lease = clientv3.NewLeaseFromLeaseClient(&leases{r}, c, time.Second)
	return c
}

// KV returns the bubble's side of etcd's own protocol, on which Client is built.
func (r *Run) KV() pb.KVClient {
	if r.memory != nil {
		return &straight{r}
	}
	return &kv{r}
}

// call runs f outside the bubble and takes in its commits. The events cross as plain data and
// are recorded here.
func (r *Run) call(f func(store) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.callLocked(f)
}

func (r *Run) callLocked(f func(store) error) (err error) {
	if r.ended {
		return ErrEnded
	}
	if r.memory != nil {
		return r.straight(func(m *memory) error { return f(m) })
	}
	var evs []*mvccpb.Event
	r.srv.out.Do(func() {
		s := r.srv
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.run.Load() != r {
			err = ErrEnded
			return
		}
		err = f(s.store)
		evs = s.store.events()
	})
	if len(evs) > 0 {
		r.history.add(evs, r.base, time.Now())
		r.due.Store(true)
	}
	return err
}

// straight runs f in the bubble.
func (r *Run) straight(f func(*memory) error) error {
	if r.ended || r.srv.run.Load() != r {
		return ErrEnded
	}
	before := r.history.last
	err := f(r.memory)
	if r.history.last != before {
		r.due.Store(true)
	}
	return err
}

// Outside runs f on a goroutine of no bubble, like the calls of the store, to create objects
// that later runs of the process also use.
func (r *Run) Outside(f func()) { r.srv.out.Do(f) }

// Revision returns the current revision: 1 before the first write.
func (r *Run) Revision() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.history.last
}

// RevisionAt returns the revision that was current at a virtual time, as far back as the
// history reaches.
func (r *Run) RevisionAt(t time.Time) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.history.at(t)
}

// Heard returns the revision up to which all subscribers and watches are complete. Pump, which
// is called after each step, advances it.
func (r *Run) Heard() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(1, r.heard)
}

// Calls returns the number of reads, writes and transactions so far.
func (r *Run) Calls() int { return int(r.calls.Load()) }

// Event is one committed change of a key.
type Event struct {
	Key          string
	Value, Prev  []byte // nil when deleted, nil when created
	Revision     int64
	PrevRevision int64 // 0 when created
	Deleted      bool
}

// OnEvent subscribes f to every committed change, in order of revision. Pump calls it, on the
// caller's goroutine, before any watch gets the change.
func (r *Run) OnEvent(f func(Event)) { r.subs = append(r.subs, f) }

// Pump passes the commits since the last call to subscribers and watches and reports whether
// there were any. Without commits it costs one load.
//
// No change is delivered earlier: a change without a step of the schedule (the end of a lease,
// a write without a gate) is delivered at the next step.
func (r *Run) Pump() bool {
	if !r.due.Swap(false) {
		return false
	}
	moved := r.notify()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range append([]*watch(nil), r.watches...) {
		if r.feed(w) {
			moved = true
		}
	}
	return moved
}

// notify does not hold the lock while a subscriber runs: the subscriber may read the store.
func (r *Run) notify() bool {
	r.mu.Lock()
	news := r.history.from(r.notified)
	r.notified += len(news)
	r.heard = r.history.last
	r.mu.Unlock()
	for _, n := range news {
		e := Event{Key: string(n.Kv.Key), Value: n.Kv.Value, Revision: n.Kv.ModRevision, Deleted: n.Type == mvccpb.DELETE}
		if n.PrevKv != nil {
			e.Prev, e.PrevRevision = n.PrevKv.Value, n.PrevKv.ModRevision
		}
		for _, f := range r.subs {
			f(e)
		}
	}
	return len(news) > 0
}

// Scan calls f for every key with a prefix, in order. It reads the bridge's own copy of the
// present state, so it costs no hop and is not counted as a call.
func (r *Run) Scan(prefix string, f func(key string, value []byte, rev int64)) {
	r.mu.Lock()
	var found []*mvccpb.KeyValue
	take := func(kv *mvccpb.KeyValue) { found = append(found, kv) }
	r.history.ascend([]byte(max(prefix, "\x00")), []byte(clientv3.GetPrefixRangeEnd(prefix)), take)
	r.mu.Unlock()
	for _, kv := range found {
		f(string(kv.Key), kv.Value, kv.ModRevision)
	}
}

// Digest returns a SHA-256 of every key with its revisions, version and value, by key: equal
// digests mean the same final store. It is an error if the state of the bridge, which answers
// for the store, differs from the store.
func (r *Run) Digest() (string, error) {
	all := &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}}
	var there, here *pb.RangeResponse
	err := r.call(func(s store) (err error) {
		there, err = s.Range(context.Background(), all)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("etcd: digest: %w", err)
	}
	if here = there; r.memory == nil {
		r.base.rangeOut(there)
		here = r.history.read(all)
	}
	if !slices.EqualFunc(there.Kvs, here.Kvs, same) {
		return "", errors.New("etcd: digest: the bridge has lost track of etcd")
	}
	h, head := sha256.New(), []byte(nil)
	for _, kv := range there.Kvs {
		head = head[:0]
		for _, n := range []int64{kv.CreateRevision, kv.ModRevision, kv.Version, int64(len(kv.Key)), int64(len(kv.Value))} {
			head = binary.AppendVarint(head, n)
		}
		h.Write(append(head, kv.Key...))
		h.Write(kv.Value)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func same(a, b *mvccpb.KeyValue) bool {
	return a == b || a.CreateRevision == b.CreateRevision && a.ModRevision == b.ModRevision && a.Version == b.Version && a.Lease == b.Lease &&
		bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
}

// End ends the run: every later call returns ErrEnded. It may be called outside the bubble, so
// it does not touch what belongs to the bubble: watches end with their contexts, and the timer
// of a lease ends with the bubble.
func (r *Run) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
