package calico

import (
	"encoding/json"
	"fmt"
	"testing"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"

	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

// A read after the write of one block and of one handle, with as many as a cluster of 20 or of
// 1,000 nodes with 30 pods each has.
func BenchmarkObserve(b *testing.B) {
	for _, nodes := range []int{20, 1000} {
		b.Run(fmt.Sprintf("%d pods", 30*nodes), func(b *testing.B) {
			r := record.Blank()
			put := func(path string, rev int64, v any) {
				value, err := json.Marshal(v)
				if err != nil {
					b.Fatal(err)
				}
				r.Note(path, record.Change{Read: func() (*bmodel.KVPair, error) { return record.EtcdPair(path, value, rev) }})
			}
			block := func(n int) (string, *bmodel.AllocationBlock) {
				_, cidr, err := cnet.ParseCIDR(fmt.Sprintf("10.%d.%d.%d/26", n/1024, n/4%256, n%4*64))
				if err != nil {
					b.Fatal(err)
				}
				owner := fmt.Sprint("host:node-", n)
				v := &bmodel.AllocationBlock{CIDR: *cidr, Affinity: &owner, Allocations: make([]*int, 64)}
				for i := range 30 {
					handle := fmt.Sprintf("k8s-pod-network.%d-%d", n, i)
					v.Attributes = append(v.Attributes, bmodel.AllocationAttribute{AttrPrimary: &handle,
						AttrSecondary: map[string]string{"node": owner[5:], "pod": fmt.Sprintf("pod-%d-%d", n, i), "namespace": "default"}})
					v.Allocations[i] = &i
					put(record.IpamRoot+"handle/"+handle, 2, bmodel.IPAMHandle{Block: map[string]int{cidr.String(): 1}})
				}
				return store.Path(bmodel.BlockKey{CIDR: *cidr}), v
			}
			for n := range nodes {
				path, v := block(n)
				put(path, 2, v)
			}
			if s, err := r.Observe(); err != nil || len(s.Claims) != 30*nodes || len(s.Handles) != 30*nodes {
				b.Fatal(len(s.Claims), err)
			}
			path, v := block(nodes / 2)
			b.ReportAllocs()
			rev := int64(2)
			for b.Loop() {
				rev++
				put(path, rev, v)
				put(record.IpamRoot+"handle/new", rev, bmodel.IPAMHandle{})
				if _, err := r.Observe(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
