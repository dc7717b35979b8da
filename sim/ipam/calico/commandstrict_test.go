package calico

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ipamsim/sim/ipam/calico/store"
)

// W3: StrictAffinity is switched on while addresses are borrowed. Existing blocks, affinities and
// borrowed addresses do not change. From the next allocation on no node borrows: the new node,
// which has no block, gets no more addresses, and its existing addresses are released as usual.
// After StrictAffinity is switched off, the node borrows again.
func TestStrictAffinitySwitchedOnLater(t *testing.T) {
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			w.wikimedia()
			before, borrowed := w.gcWorld.record(), w.command("calicoctl ipam show --show-borrowed")
			if !strings.Contains(borrowed, "| 10.64.75.65 | kubestage1003  | 10.64.75.64/26 | kubestage1001 |") {
				t.Error(ds, borrowed)
			}
			w.expect("calicoctl ipam configure --strictaffinity=true", "Successfully set StrictAffinity to: true")
			w.holds(before)
			if after := w.command("calicoctl ipam show --show-borrowed"); after != borrowed {
				t.Error(ds, after)
			}

			_, err := w.tryAssign(w.direct.IPAM(), "kubestage1003-1", "kubestage1003")
			if err == nil || !strings.Contains(err.Error(), "Assigned 0 out of 1 requested IPv4 addresses; No more free affine blocks and strict affinity enabled") {
				t.Error(ds, err)
			}
			w.unassign("kubestage1003-0")
			if got := w.assign("kubestage1001-more", "kubestage1001"); !strings.HasPrefix(got, "10.64.75.") {
				t.Error(ds, got)
			}
			w.expect("calicoctl ipam configure --strictaffinity=false", "Successfully set StrictAffinity to: false")
			if got := w.assign("kubestage1003-2", "kubestage1003"); !strings.HasPrefix(got, "10.64.75.") {
				t.Error(ds, got)
			}
		})
	}
}

// The issue reports: "new blocks created after that change still have StrictAffinity: false".
// Nothing reads or sets this field of the custom resource any more; the old and the new blocks have
// the field, and all are strict.
//
// Source: libcalico-go/lib/apis/v3/ipam_block.go, DeprecatedStrictAffinity.
func TestStrictAffinityOfABlock(t *testing.T) {
	consolePlay(t, gcRun{datastore: store.Kubernetes}, func(_ context.Context, w console) {
		w.cluster("10.64.75.0/25", "a", "b", "c", "d", "e")
		w.assign("old", "a")
		w.expect("calicoctl ipam configure --strictaffinity=true", "Successfully set StrictAffinity to: true")
		for _, n := range []string{"b", "c", "d"} {
			w.assign("new-"+n, n)
		}
		raw, err := w.kube.CoreV1().RESTClient().Get().AbsPath("/apis/crd.projectcalico.org/v1/ipamblocks").DoRaw(context.Background())
		if w.must(err); strings.Count(string(raw), `"strictAffinity":false`) != 4 {
			t.Errorf("%s", raw)
		}
		if _, err := w.tryAssign(w.direct.IPAM(), "borrower", "e"); err == nil {
			t.Error("e borrows")
		}
	})
}

// The limit of blocks takes none away from a node that has more already: it goes
// on using them, and gets no third. configure cannot end strictness alone then.
func TestMaxBlocksSwitchedOnLater(t *testing.T) {
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			w.wikimedia()
			before := w.gcWorld.record()
			w.expect("calicoctl ipam configure --strictaffinity=true --max-blocks-per-host=1",
				"Successfully set StrictAffinity to: true\nSuccessfully set MaxBlocksPerHost to: 1")
			w.expect("calicoctl ipam show --show-configuration", "| MaxBlocksPerHost   |     1 |")
			w.holds(before)
			for i := range 64 + 64 - 47 {
				w.assign(fmt.Sprint("more-", i), "kubestage1001")
			}
			_, err := w.tryAssign(w.direct.IPAM(), "too-many", "kubestage1001")
			if err == nil || !strings.Contains(err.Error(), "cannot allocate new block due to per host block limit") {
				t.Error(ds, err)
			}
			w.expect("calicoctl ipam configure --strictaffinity=false", "error: MaxBlocksPerHost requires StrictAffinity to be enabled")
			w.expect("calicoctl ipam configure --strictaffinity=false --max-blocks-per-host=0", "Successfully set MaxBlocksPerHost to: 0")
		})
	}
}

// An allocation that has read the configuration before it is changed borrows after calicoctl has
// reported the change: it reads the configuration a second time, but uses the first value.
func TestStrictAffinityDuringAnAllocation(t *testing.T) {
	for at := 1; at <= 11; at++ {
		consolePlay(t, gcRun{}, func(_ context.Context, w console) {
			h := &hands{console: w}
			h.staging(true)
			m := &meddled{before: func(n int, _ string) {
				if n == at {
					h.expect("calicoctl ipam configure --strictaffinity=true", "Successfully set StrictAffinity to: true")
				}
			}}
			got := h.add(h.meddle(m), "new", "n3")
			if borrowed := strings.HasPrefix(got, "10.64.75."); borrowed != (at > 5) || m.calls[4] != "Get /calico/ipam/v2/config" {
				t.Errorf("changed before call %d of %d, %q: %s", at, len(m.calls), m.calls, got)
			}
		})
	}
}
