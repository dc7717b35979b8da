package calico

import (
	"context"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/sim/ipam/calico/store"
)

// Addresses whose pools were deleted are searched in all blocks; with etcdv3 only in blocks of the
// family of the first address. Addresses of the other family are reported as not assigned, and
// stay. After both pools of a dual-stack cluster and then a node are deleted, or with calicoctl
// ipam release from a report, only half is released. The Kubernetes datastore lists blocks of both
// families in any case.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseIPs (cachedBlockKVs);
// ipam_block_reader_writer.go, getBlockForIP (v3.31.0).
func TestReleaseWithoutPoolsKnowsOneFamily(t *testing.T) {
	s := startEtcd(t)
	for _, ds := range datastores {
		open(t, s, ds, func(b *books) {
			ctx, handle := context.Background(), "h"
			b.pool("four", "10.0.0.0/28", 30)
			b.pool("six", "fd00::/124", 126)
			b.node("a", nil)
			_, _, err := b.c.IPAM().AutoAssign(ctx, upstream.AutoAssignArgs{
				Num4: 1, Num6: 1, HandleID: &handle, Hostname: "a", IntendedUse: apiv3.IPPoolAllowedUseWorkload,
			})
			b.must(err)
			for _, p := range []string{"four", "six"} {
				_, err := b.c.IPPools().Delete(ctx, p, options.DeleteOptions{})
				b.must(err)
			}
			all := b.observe().Claims
			four, six := all[0].Addr.String(), all[1].Addr.String()
			missed, _, err := b.c.IPAM().ReleaseIPs(ctx, upstream.ReleaseOptions{Address: four}, upstream.ReleaseOptions{Address: six})
			b.must(err)
			left := b.observe().Claims
			if ds == store.Kubernetes {
				if len(left)+len(missed) > 0 {
					t.Errorf("%v is left, upstream misses %v", left, missed)
				}
				return
			}
			if len(left) != 1 || left[0].Addr.String() != six || len(missed) != 1 || missed[0].String() != six {
				t.Errorf("%s: %v is left, upstream misses %v", ds, left, missed)
			}
		})
	}
}
