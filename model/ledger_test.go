package model_test

import (
	"fmt"
	"net/netip"

	"ipamsim/model"
)

// The step of each change: an address was claimed, released, and claimed for another pod in the
// same step in which a block was added.
func ExampleLedger() {
	var l model.Ledger
	claim := func(pod string) model.Claim {
		return model.Claim{Pool: "p", Addr: netip.MustParseAddr("10.0.0.1"), Pod: model.PodRef{Namespace: "default", Name: pod}, Revision: 7}
	}
	block := netip.MustParsePrefix("10.0.0.0/26")
	l.Note(0, model.Snapshot{Pools: []model.Pool{{Name: "p", Range: block}}})
	l.Note(3, model.Snapshot{Pools: []model.Pool{{Name: "p", Range: block}}, Claims: []model.Claim{claim("web-0")}})
	again := claim("web-0")
	again.Revision = 8 // the object was written, this claim was not
	l.Note(4, model.Snapshot{Pools: []model.Pool{{Name: "p", Range: block}}, Claims: []model.Claim{again}})
	l.Note(5, model.Snapshot{Pools: []model.Pool{{Name: "p", Range: block}}})
	l.Note(6, model.Snapshot{
		Pools: []model.Pool{{Name: "p", Range: block}}, Claims: []model.Claim{claim("db-0")},
		Affinities: []model.Affinity{{Block: block, Node: "worker-1", State: model.Pending}},
	})
	for _, c := range l.Changes {
		fmt.Println(c.Step, c.Row, c.Refs, c.Came, c.Gone)
	}
	addr := model.Ref{Kind: model.RefAddress, Name: "10.0.0.1"}
	fmt.Println("up to step 5:", l.Changes[l.Last(5, []model.Ref{addr}, model.RefAddress)].Step)
	// Output:
	// 0 pool [block 10.0.0.0/26 pool p] true false
	// 3 address [address 10.0.0.1 block 10.0.0.0/26 pod default/web-0 pool p] true false
	// 5 address [address 10.0.0.1 block 10.0.0.0/26 pod default/web-0 pool p] false true
	// 6 block [block 10.0.0.0/26 node worker-1] true false
	// 6 address [address 10.0.0.1 block 10.0.0.0/26 pod default/db-0 pool p] true false
	// up to step 5: 5
}
