package etcd

import (
	"cmp"
	"slices"
	"sort"

	"github.com/google/btree"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// keyspace is every key with its versions since the last compaction, in relative revisions.
// Its key-value pairs are immutable: readers get the pair itself.
type keyspace struct {
	keys map[string]*item
	live tree               // keys that have a value now
	dead tree               // keys deleted since the last compaction
	aged map[*item]struct{} // keys with versions that a compaction may delete
}

// tree is google/btree's. An interface, or every package that imports this one compiles the tree again (reports/BENCH.md,
// "Building").
type tree interface {
	Get(*item) (*item, bool)
	ReplaceOrInsert(*item) (*item, bool)
	Delete(*item) (*item, bool)
	AscendGreaterOrEqual(*item, btree.ItemIteratorG[*item])
}

// item is one key.
type item struct {
	key      string
	now      *mvccpb.KeyValue // nil: deleted
	versions []version        // oldest first; the last is now
}

// version is the value of a key from a revision on; nil: none.
type version struct {
	rev int64
	kv  *mvccpb.KeyValue
}

// degree of the trees: nodes of a few cache lines.
const degree = 16

func newKeyspace() keyspace {
	less := func(a, b *item) bool { return a.key < b.key }
	return keyspace{map[string]*item{}, btree.NewG(degree, less), btree.NewG(degree, less), map[*item]struct{}{}}
}

// at returns the pair at a revision; nil: none.
func (i *item) at(rev int64) *mvccpb.KeyValue {
	if i.now != nil && i.now.ModRevision <= rev {
		return i.now
	}
	n := sort.Search(len(i.versions), func(n int) bool { return i.versions[n].rev > rev })
	if n == 0 {
		return nil
	}
	return i.versions[n-1].kv
}

// now returns the present pair; nil: none.
func (k *keyspace) now(key []byte) *mvccpb.KeyValue {
	if i := k.keys[string(key)]; i != nil {
		return i.now
	}
	return nil
}

// set records a new version of a key, nil for its deletion, and returns the pair before it.
func (k *keyspace) set(key []byte, rev int64, kv *mvccpb.KeyValue) (prev *mvccpb.KeyValue) {
	i := k.keys[string(key)]
	if i == nil {
		i = &item{key: string(key)}
		k.keys[i.key] = i
	} else {
		prev = i.at(rev - 1)
		k.aged[i] = struct{}{}
	}
	switch {
	case kv != nil && i.now == nil:
		k.live.ReplaceOrInsert(i)
		if len(i.versions) > 0 {
			k.dead.Delete(i)
		}
	case kv == nil && i.now != nil:
		k.live.Delete(i)
		k.dead.ReplaceOrInsert(i)
	}
	i.now = kv
	i.versions = append(i.versions, version{rev, kv})
	return prev
}

// ascend calls f for the present pairs of a range, by key.
func (k *keyspace) ascend(key, end []byte, f func(*mvccpb.KeyValue)) {
	walk(k.live, key, end, func(i *item) { f(i.now) })
}

// walk handles etcd's three forms of a range: one key, [key, end), and everything from key on,
// whose end is a zero byte.
func walk(t tree, key, end []byte, f func(*item)) {
	from, all := &item{key: string(key)}, len(end) == 1 && end[0] == 0
	if len(end) == 0 {
		if i, ok := t.Get(from); ok {
			f(i)
		}
		return
	}
	to := string(end)
	t.AscendGreaterOrEqual(from, func(i *item) bool {
		if !all && i.key >= to {
			return false
		}
		f(i)
		return true
	})
}

// then returns the pairs of a range at a revision, by key.
func (k *keyspace) then(key, end []byte, rev int64) (out []*mvccpb.KeyValue) {
	take := func(i *item) {
		if kv := i.at(rev); kv != nil {
			out = append(out, kv)
		}
	}
	walk(k.live, key, end, take)
	n := len(out)
	if walk(k.dead, key, end, take); n < len(out) {
		slices.SortFunc(out, func(a, b *mvccpb.KeyValue) int { return cmp.Compare(string(a.Key), string(b.Key)) })
	}
	return out
}

// compact deletes the versions before a revision.
func (k *keyspace) compact(rev int64) {
	for i := range k.aged { // the order does not matter
		n := sort.Search(len(i.versions), func(n int) bool { return i.versions[n].rev > rev })
		if n > 0 && i.versions[n-1].kv != nil {
			n-- // it was current then
		}
		switch i.versions = append([]version(nil), i.versions[n:]...); {
		case len(i.versions) == 0:
			delete(k.keys, i.key)
			k.dead.Delete(i)
			delete(k.aged, i)
		case len(i.versions) == 1 && i.now != nil:
			delete(k.aged, i)
		}
	}
}
