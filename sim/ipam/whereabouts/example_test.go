package whereabouts_test

import (
	"encoding/json"
	"fmt"

	"ipamsim/sim/ipam/whereabouts"
)

// The policy of a network, and the error in one that upstream would accept.
func ExampleNew() {
	a := whereabouts.New()
	n, _, _ := a.Network("default/net1", json.RawMessage(`{"type":"macvlan","ipam":{"type":"whereabouts","range":"172.18.178.192/27","range_start":"172.18.178.196","range_end":"172.18.178.200"}}`))
	fmt.Println(n.Ranges[0].Start, n.Ranges[0].End)
	_, _, err := a.Network("default/net1", json.RawMessage(`{"type":"macvlan","ipam":{"type":"whereabouts","range":"172.18.178.192/27","range_start":"172.18.179.196"}}`))
	fmt.Println(err)
	// Output:
	// 172.18.178.196 172.18.178.200
	// whereabouts: default/net1: range_start: 172.18.179.196 lies outside of 172.18.178.192/27
}
