package twin

import (
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// What random programs do not reach: how much a request may hold. Both stores must
// draw the line at the same place, here at the byte.
func TestLimits(t *testing.T) {
	put := func(size int) operation {
		return operation{fmt.Sprint("put of ", size), func(p *player) string {
			a, err := p.client.Put(p.ctx, "k", strings.Repeat("x", size))
			return p.say((*pb.PutResponse)(a), err)
		}}
	}
	commit := func(what string, ops ...clientv3.Op) operation {
		return operation{what, func(p *player) string {
			a, err := p.client.Txn(p.ctx).Then(ops...).Commit()
			return p.say((*pb.TxnResponse)(a), err)
		}}
	}
	puts := func(n int) (out []clientv3.Op) {
		for i := range n {
			out = append(out, clientv3.OpPut(fmt.Sprint("k", i), "x"))
		}
		return out
	}
	nested := func(n int) clientv3.Op { return clientv3.OpTxn(nil, puts(n), nil) }
	p := Program{
		commit("128 operations", puts(128)...), commit("129 operations", puts(129)...),
		commit("127 in one", nested(127)), commit("128 in one", nested(128)),
		commit("nothing"), commit("an empty one", clientv3.OpTxn(nil, nil, nil)),
		commit("read-only with a long key", clientv3.OpGet(strings.Repeat("k", 2<<20))),
		commit("a write with a long key", clientv3.OpGet(strings.Repeat("k", 2<<20)), clientv3.OpPut("a", "b")),
	}
	const most = 1536 << 10
	for size := most - 40; size < most; size++ {
		p = append(p, put(size))
	}
	p = append(p, put(2*most))
	if err := p.Play(server); err != nil {
		t.Fatal(err)
	}
}
