package calico

import (
	"context"
	"fmt"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"

	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam/calico/store"
)

// releaseAll assigns num4 and num6 addresses to one handle, releases all of them by address with
// one call, and returns the remaining handles.
func (b *books) releaseAll(num4, num6 int) string {
	b.t.Helper()
	ctx, handle := context.Background(), "h"
	b.pool("p", "10.0.0.0/28", 30)
	b.pool("six", "fd00::/124", 126)
	b.node("a", nil)
	_, _, err := b.c.IPAM().AutoAssign(ctx, upstream.AutoAssignArgs{
		Num4: num4, Num6: num6, HandleID: &handle, Hostname: "a", IntendedUse: apiv3.IPPoolAllowedUseWorkload,
	})
	b.must(err)
	var all []upstream.ReleaseOptions
	for _, c := range b.observe().Claims {
		all = append(all, upstream.ReleaseOptions{Address: c.Addr.String(), Handle: handle})
	}
	_, _, err = b.c.IPAM().ReleaseIPs(ctx, all...)
	b.must(err)
	if n := len(b.observe().Claims); len(all) != num4+num6 || n > 0 {
		b.t.Fatalf("%d addresses, %d left", len(all), n)
	}
	return fmt.Sprint(b.observe().Handles)
}

// ReleaseIPs decrements a handle once for a block, whatever the number of its addresses that it
// releases there: the handle stays forever, and no process refers to it.
//
// Source: libcalico-go/lib/ipam/ipam_block.go, release: "if count, ok :=
// countByHandle[handleID]; !ok { handleCount = count }" (v3.31.0).
func TestReleaseCountsOneAddressOfAHandle(t *testing.T) {
	s := startEtcd(t)
	for _, ds := range datastores {
		open(t, s, ds, func(b *books) {
			if got := b.releaseAll(2, 0); got != "[{h [{10.0.0.12/30 1}]}]" {
				t.Errorf("%s: %s", ds, got)
			}
		})
	}
}

// ReleaseIPs processes several blocks concurrently and, from three addresses on, shares one object
// for each handle between them without a lock. The goroutine of one block decrements the handle,
// that of another block stores this, and the first one gets a conflict and decrements again. (With
// the Kubernetes datastore this deletes the handle of the test above.) On real machines this is a
// data race on a Go map, which may crash kube-controllers when it collects leaks of dual-stack
// pods.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseIPs (handleMap) and
// decrementHandle (v3.31.0).
func TestReleaseSharesHandles(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: the order of goroutines is the seed's only in the hermetic build; run make test")
	}
	s := startEtcd(t)
	for ds, want := range map[string]string{store.Etcd: "[{h [{10.0.0.12/30 1}]}]", store.Kubernetes: "[]"} {
		open(t, s, ds, func(b *books) {
			if got := b.releaseAll(2, 1); got != want {
				t.Errorf("%s: %s, want %s", ds, got, want)
			}
		})
	}
}
