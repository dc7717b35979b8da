package twin

import (
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func put(key, value string) operation {
	return operation{fmt.Sprintf("put %q", key), func(p *player) string {
		a, err := p.client.Put(p.ctx, key, value)
		return p.say((*pb.PutResponse)(a), err)
	}}
}

func compact(rev int64) operation {
	return operation{fmt.Sprintf("compact %d", rev), func(p *player) string {
		a, err := p.client.Compact(p.ctx, rev)
		return p.say((*pb.CompactionResponse)(a), err)
	}}
}

func watchFrom(rev int64, key string, opts ...clientv3.OpOption) operation {
	return operation{fmt.Sprintf("watch %q from %d", key, rev), func(p *player) string {
		p.watch("one", key, append(opts, clientv3.WithRev(rev))...)
		return ""
	}}
}

// A watch from the revision of a compaction gets that revision, without the previous value; one
// from an earlier revision gets nothing.
func TestWatchFromACompaction(t *testing.T) {
	for rev := range int64(6) {
		p := Program{put("a", "1"), put("a", "2"), put("a", "3"), compact(3), watchFrom(rev, "a", clientv3.WithPrevKV()), put("a", "4")}
		if err := p.Play(server); err != nil {
			t.Errorf("from %d: %v", rev, err)
		}
	}
}

// A watch that begins late gets up to a thousand revisions in one response.
func TestWatchThatCatchesUp(t *testing.T) {
	var p Program
	for i := range 1010 {
		p = append(p, put(fmt.Sprint("k", i%2), fmt.Sprint(i)))
	}
	for _, rev := range []int64{1, 2, 5, 500, 1011} {
		p = append(p, watchFrom(rev, "k", clientv3.WithPrefix()))
	}
	p = append(p, watchFrom(2, "k0"), put("k0", "now"))
	if err := p.Play(server); err != nil {
		t.Fatal(err)
	}
}

// More than one request may hold, in one response or in fragments.
func TestWatchOfMuch(t *testing.T) {
	much := strings.Repeat("x", 1<<20)
	p := Program{put("a", much), put("b", much), put("c", much)}
	p = append(p, watchFrom(2, "", clientv3.WithPrefix()), watchFrom(2, "", clientv3.WithPrefix(), clientv3.WithFragment(), clientv3.WithPrevKV()))
	p = append(p, put("b", "less"))
	if err := p.Play(server); err != nil {
		t.Fatal(err)
	}
}
