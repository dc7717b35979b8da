package model_test

import (
	"fmt"
	"net/netip"

	"ipamsim/model"
)

// A range of five addresses, one excluded, one claimed by a pod long gone: for
// policy three are left.
func ExampleFree() {
	prefix := netip.MustParsePrefix("10.0.0.192/27")
	networks := []model.Network{{
		Key: "default/net",
		Ranges: []model.Range{{
			Prefix: prefix, Start: netip.MustParseAddr("10.0.0.196"), End: netip.MustParseAddr("10.0.0.200"),
			Exclude: []netip.Prefix{netip.MustParsePrefix("10.0.0.198/32")},
		}},
	}}
	record := model.Snapshot{
		Pools:  []model.Pool{{Name: "10.0.0.192-27", Range: prefix}},
		Claims: []model.Claim{{Pool: "10.0.0.192-27", Addr: netip.MustParseAddr("10.0.0.197")}},
	}
	fmt.Println(model.Free(networks, record, "default/net", "node-1"))
	// Output: 3
}
