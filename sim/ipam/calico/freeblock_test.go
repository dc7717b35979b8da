package calico

import (
	"context"
	"fmt"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

// TestFreeIsWhatTheAllocatorGives compares model.Free with the real allocator: after any operations
// on the datastore, a node gets at least Free addresses, and when a request is refused Free is 0.
// So an oracle of exhaustion based on Free raises no false alarm.
func TestFreeIsWhatTheAllocatorGives(t *testing.T) {
	s := startEtcd(t)
	rapid.Check(t, func(rt *rapid.T) {
		open(rt, s, store.Etcd, func(b *books) {
			b.pool("p0", "10.0.0.0/27", 29)
			for _, n := range []string{"a", "b"} {
				b.node(n, nil)
			}
			b.reserve(rt)
			for range rapid.IntRange(0, 8).Draw(rt, "steps") {
				b.anything(rt)
			}
			b.settings(rt)
			node := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "who")
			before := b.observe()
			free, got := model.Free(before.Networks, before, record.NetworkKey, node), 0
			for {
				now := b.observe()
				left := model.Free(now.Networks, now, record.NetworkKey, node)
				if a, err := b.add(node, fmt.Sprintf("last-%d", got)); err != nil || !a.IsValid() {
					if left > 0 || got < free {
						rt.Fatalf("%s is refused (%v), but Free is %d, and was %d before %d others\n%s", node, err, left, free, got, text(now))
					}
					break
				}
				got++
			}
		})
	})
}

// reserve takes some addresses out of automatic hands.
func (b *books) reserve(rt *rapid.T) {
	r := apiv3.NewIPReservation()
	r.Name = "r"
	r.Spec.ReservedCIDRs = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"10.0.0.0/29", "10.0.0.8/30", "10.0.0.12/30", "10.0.0.16", "10.0.0.17", "10.0.0.24/28", "10.1.0.0/31",
	}), 0, 3, rapid.ID).Draw(rt, "reserved")
	_, err := b.c.IPReservations().Create(context.Background(), r, options.SetOptions{})
	b.must(err)
}

// settings stores any configuration, also those that calicoctl refuses and
// kubectl does not.
func (b *books) settings(rt *rapid.T) {
	_, err := store.Backend(b.c).Apply(context.Background(), &bmodel.KVPair{Key: bmodel.IPAMConfigKey{}, Value: &bmodel.IPAMConfig{
		StrictAffinity:     rapid.Bool().Draw(rt, "strict"),
		AutoAllocateBlocks: rapid.IntRange(0, 4).Draw(rt, "allocate") > 0,
		MaxBlocksPerHost:   rapid.IntRange(0, 3).Draw(rt, "limit"),
	}})
	b.must(err)
}
