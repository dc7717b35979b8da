package whereabouts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
)

// More unexpected behaviour of Whereabouts v0.9.4, found by comparison with the reference.

// ipam.go:246 reads the offset of an allocation as an int64, ipam.go:266 writes it
// as an uint64: an allocation at an offset of 2^63 or more is
// lost as soon as it is written. In the upper half of a /64 every pod gets
// the same address. With overlap protection this happens after a pass has released
// the reservations, because it knows no allocation of their pods.
func TestUpperHalfOfA64IsForgotten(t *testing.T) {
	const alone = `{"type":"whereabouts","range":"fd00::/64","range_start":"fd00::8000:0:0:1","enable_overlapping_ranges":false}`
	serial(t, map[string]string{"net": alone}, func(w *world) {
		wait(w.add(call(w, "a", "n", "net", "net1")), w.add(call(w, "b", "n", "net", "net1")))
		if a, b := w.addrs("a", "net1"), w.addrs("b", "net1"); a != "fd00::8000:0:0:1/64" || b != a || w.claims() != "" {
			t.Errorf("%s and %s; claims %q", a, b, w.claims())
		}
	})
	serial(t, map[string]string{"net": strings.Replace(alone, `,"enable_overlapping_ranges":false`, "", 1)}, func(w *world) {
		wait(w.add(call(w, "a", "n", "net", "net1")))
		w.pod("a", "n", "net", "fd00::8000:0:0:1")
		wait(w.background("ip-reconciler", ""))
		wait(w.add(call(w, "b", "n", "net", "net1")))
		if a, b := w.addrs("a", "net1"), w.addrs("b", "net1"); a != "fd00::8000:0:0:1/64" || b != a {
			t.Errorf("%s and %s", a, b)
		}
	})
}

// iphelpers.go, ipAddrToUint64, keeps the last 64 bits of an offset: in a range wider than a /64,
// an allocation after the first /64 is stored as an address of the first /64.
func TestOffsetsOfWideRangesAreCutOff(t *testing.T) {
	serial(t, map[string]string{"net": `{"type":"whereabouts","range":"fd00::/48","range_start":"fd00:0:0:1::1","enable_overlapping_ranges":false}`}, func(w *world) {
		wait(w.add(call(w, "a", "n", "net", "net1")))
		wait(w.add(call(w, "b", "n", "net", "net1")))
		if a, b := w.addrs("a", "net1"), w.addrs("b", "net1"); a != "fd00:0:0:1::1/48" || b != a || w.claims() != "fd00::1 b" {
			t.Errorf("%s and %s; claims %q", a, b, w.claims())
		}
	})
}

// iploop.go:224 reads an address out of the name fd00-1-2-3-4-5--0 that ends in
// "::0", which no status says: a pass deletes the reservation of an IPv6 address
// that ends in two colons, and an overlapping range hands it out again.
func TestReservationThatEndsInColonsIsDeleted(t *testing.T) {
	serial(t, map[string]string{
		"net":  `{"type":"whereabouts","range":"fd00:1:2:3:4:4::/95","range_start":"fd00:1:2:3:4:5::"}`,
		"part": `{"type":"whereabouts","range":"fd00:1:2:3:4::/80","range_start":"fd00:1:2:3:4:5::"}`,
	}, func(w *world) {
		wait(w.add(call(w, "a", "n", "net", "net1")))
		w.pod("a", "n", "net", "fd00:1:2:3:4:5::")
		wait(w.background("ip-reconciler", ""))
		wait(w.add(call(w, "b", "n", "part", "net1")))
		if a, b := w.addrs("a", "net1"), w.addrs("b", "net1"); a != "fd00:1:2:3:4:5::/95" || b != "fd00:1:2:3:4:5::/80" {
			t.Errorf("%s and %s", a, b)
		}
	})
}

// controller.go:473 gives slices to nodes before :475 takes those of nodes that
// are gone: a node that came while all slices were taken gets none when one
// becomes free, until something else changes, and its plugins crash.
func TestFreedSliceStaysUnassigned(t *testing.T) {
	simulate(t, server(t), timed(t, 1), sim.Options{Seed: 1}, map[string]string{"net": `{"type":"whereabouts","range":"10.0.0.0/25","node_slice_size":"/26"}`}, func(_ context.Context, w *world) {
		var crashed any
		w.Hooks.Panic = func(_ sim.ActorID, v any, _ string) { crashed = v }
		w.background("node-slice-controller", "")
		for _, n := range []string{"a", "b", "c"} {
			w.node(n)
			time.Sleep(5 * time.Second)
		}
		if err := w.api.Resource(nodesGVR).Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		wait(w.add(call(w, "p", "c", "net", "net1")))
		if crashed == nil {
			t.Error("c has got the slice of a")
		}
		crashed = nil
		w.node("d")
		time.Sleep(5 * time.Second)
		wait(w.add(call(w, "q", "c", "net", "net1")), w.add(call(w, "r", "d", "net", "net1")))
		if w.claims() == "" || crashed == nil {
			t.Errorf("claims %q, crashed %v", w.claims(), crashed)
		}
	})
}
