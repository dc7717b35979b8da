package etcd

import (
	"sort"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// history is every change since the last compaction, in relative revisions, and the keys with
// their versions.
type history struct {
	keyspace
	log       []*clientv3.Event
	when      []time.Time // when log[i] was committed, virtual
	first     int         // number of the entry log[0]
	last      int64       // current revision
	compacted int64       // as in etcd: reads and watches before it fail; -1: never compacted
}

func newHistory() history { return history{keyspace: newKeyspace(), last: 1, compacted: -1} }

// add records committed events. etcd's own memory is copied before it is changed.
func (h *history) add(evs []*mvccpb.Event, b base, now time.Time) {
	for _, e := range evs {
		kv := shallow(e.Kv)
		b.kv(kv)
		h.file(e.Type, kv, now)
	}
}

// shallow returns a copy that shares key and value.
func shallow(kv *mvccpb.KeyValue) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{Key: kv.Key, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version, Value: kv.Value, Lease: kv.Lease}
}

// file records one change: the new pair, or for a deletion its key and revision.
func (h *history) file(what mvccpb.Event_EventType, kv *mvccpb.KeyValue, now time.Time) {
	value := kv
	if what == mvccpb.DELETE {
		value = nil
	}
	h.log = append(h.log, &clientv3.Event{Type: what, Kv: kv, PrevKv: h.set(kv.Key, kv.ModRevision, value)})
	h.when = append(h.when, now)
	h.last = kv.ModRevision
}

// from returns the entries from number n on.
func (h *history) from(n int) []*clientv3.Event { return h.log[n-h.first:] }

// find returns the number of the first entry at or after a revision.
func (h *history) find(rev int64) int {
	return h.first + sort.Search(len(h.log), func(i int) bool { return h.log[i].Kv.ModRevision >= rev })
}

func (h *history) at(t time.Time) int64 {
	i := sort.Search(len(h.when), func(i int) bool { return h.when[i].After(t) })
	switch {
	case i > 0:
		return h.log[i-1].Kv.ModRevision
	default:
		return max(1, h.compacted)
	}
}

// compact deletes the entries before a revision, but none from number keep on: watches still
// get the events of the revision itself.
func (h *history) compact(rev int64, keep int) {
	h.compacted = rev
	h.keyspace.compact(rev)
	n := min(h.find(rev), keep) - h.first
	h.log = append([]*clientv3.Event(nil), h.log[n:]...)
	h.when = append([]time.Time(nil), h.when[n:]...)
	h.first += n
}
