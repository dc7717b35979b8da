package etcd

import (
	"bytes"
	"cmp"
	"sort"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// read answers a request that passed check.Range and readable, with the bridge's header. Count
// is the size of the whole range, before filters.
//
// Source: etcdserver/txn, executeRange.
func (h *history) read(q *pb.RangeRequest) *pb.RangeResponse {
	a := &pb.RangeResponse{Header: &pb.ResponseHeader{ClusterId: 1, MemberId: 1, RaftTerm: 2, Revision: h.last}, Kvs: []*mvccpb.KeyValue{}}
	if q.Revision > 0 && q.Revision != h.last {
		a.Kvs = append(a.Kvs, h.then(q.Key, q.RangeEnd, q.Revision)...)
	} else if len(q.RangeEnd) == 0 {
		if kv := h.now(q.Key); kv != nil {
			a.Kvs = append(a.Kvs, kv)
		}
	} else {
		h.ascend(q.Key, q.RangeEnd, func(kv *mvccpb.KeyValue) { a.Kvs = append(a.Kvs, kv) })
	}
	a.Count = int64(len(a.Kvs))
	if q.CountOnly {
		a.Kvs = a.Kvs[:0]
		return a
	}
	if !filter(a, q) && q.Limit > 0 && q.SortOrder == pb.RangeRequest_NONE {
		// Without a sort order etcd reads only up to the limit, even if it then sorts by
		// another target than the key, ascending: the least value of a=3, b=2, c=1 is then
		// reported as that of b.
		a.Kvs = a.Kvs[:min(int64(len(a.Kvs)), q.Limit+1)]
	}
	order(a.Kvs, q)
	if q.Limit > 0 && int64(len(a.Kvs)) > q.Limit {
		a.Kvs, a.More = a.Kvs[:q.Limit], true
	}
	if q.KeysOnly {
		for i, kv := range a.Kvs {
			bare := shallow(kv)
			bare.Value = nil
			if q.SortTarget != pb.RangeRequest_VALUE {
				bare.Lease = 0 // etcd 3.7 reads only its index
			}
			a.Kvs[i] = bare
		}
	}
	return a
}

// filter removes the pairs outside of the requested revisions, and reports whether there are
// any bounds; 0 is none.
func filter(a *pb.RangeResponse, q *pb.RangeRequest) bool {
	if q.MinModRevision|q.MaxModRevision|q.MinCreateRevision|q.MaxCreateRevision == 0 {
		return false
	}
	outside := func(rev, least, most int64) bool { return least != 0 && rev < least || most != 0 && rev > most }
	kept := a.Kvs[:0]
	for _, kv := range a.Kvs {
		if !outside(kv.ModRevision, q.MinModRevision, q.MaxModRevision) && !outside(kv.CreateRevision, q.MinCreateRevision, q.MaxCreateRevision) {
			kept = append(kept, kv)
		}
	}
	a.Kvs = kept
	return true
}

// byTarget sorts pairs by a value that several may share. etcd's sort is not stable, so the
// algorithm must be etcd's.
type byTarget struct {
	kvs []*mvccpb.KeyValue
	cmp func(a, b *mvccpb.KeyValue) int
}

func (s byTarget) Len() int           { return len(s.kvs) }
func (s byTarget) Swap(i, j int)      { s.kvs[i], s.kvs[j] = s.kvs[j], s.kvs[i] }
func (s byTarget) Less(i, j int) bool { return s.cmp(s.kvs[i], s.kvs[j]) < 0 }

// targets are the sort targets of a request.
var targets = [...]func(a, b *mvccpb.KeyValue) int{
	pb.RangeRequest_KEY:     func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Key, b.Key) },
	pb.RangeRequest_VERSION: func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.Version, b.Version) },
	pb.RangeRequest_CREATE:  func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.CreateRevision, b.CreateRevision) },
	pb.RangeRequest_MOD:     func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.ModRevision, b.ModRevision) },
	pb.RangeRequest_VALUE:   func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Value, b.Value) },
}

// order sorts pairs, which are in key order.
func order(kvs []*mvccpb.KeyValue, q *pb.RangeRequest) {
	s := byTarget{kvs, targets[q.SortTarget]}
	switch {
	case q.SortOrder == pb.RangeRequest_DESCEND:
		sort.Sort(sort.Reverse(s))
	case q.SortTarget != pb.RangeRequest_KEY: // ascending, also without an order
		sort.Sort(s)
	}
}
