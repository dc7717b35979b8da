package route_test

import (
	"fmt"
	"testing"

	"ipamsim/model/route"
)

// Beside a mesh every node announces every block to its router with itself as the next hop.
// The paths have equal length, and the router merges them. Measured in cmd/calico/lab,
// topology 5e: real BIRD has "to a and b and c" for every block, and for the borrowed address
// all but a, which hides it inside its own block.
func TestNodesCarryWhatTheyHeardInTheMesh(t *testing.T) {
	tables := route.Converge(tor(route.TopOfRack{Mesh: true}), labFacts())
	table, ok := tables.Of("tor1")
	if !ok {
		t.Fatal("no tor1")
	}
	want := map[string]string{
		"10.64.75.0/26": "[10.64.0.11 10.64.0.12 10.64.0.13]",
		"10.64.75.0/32": "[10.64.0.12 10.64.0.13]",
		"10.64.76.0/26": "[10.64.0.11 10.64.0.12 10.64.0.13]",
		"10.64.77.0/26": "[10.64.0.11 10.64.0.12 10.64.0.13]",
	}
	for _, r := range table.Routes {
		if w, ok := want[r.Dst.String()]; ok {
			if got := fmt.Sprint(r.Via); got != w {
				t.Errorf("%s via %s, want %s", r.Dst, got, w)
			}
			delete(want, r.Dst.String())
		}
	}
	for dst := range want {
		t.Errorf("no route to %s", dst)
	}
}
