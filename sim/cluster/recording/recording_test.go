package recording

import (
	"net/netip"
	"testing"

	"ipamsim/model"
)

// A node is shown with its addresses of both families, with the one that it has, or
// without any.
func TestAddressesOfNodes(t *testing.T) {
	four, six := netip.MustParsePrefix("10.0.0.11/24"), netip.MustParsePrefix("fd00::11/64")
	for want, m := range map[string]*Machine{
		"10.0.0.11/24": {Addr: four}, "10.0.0.11/24 fd00::11/64": {Addr: four, Addr6: six}, "fd00::11/64": {Addr6: six}, "": {},
	} {
		m.Node = model.Node{Up: true, Registered: true}
		r := New(nil, nil)
		r.Frame(View{Record: &model.Snapshot{}, Machines: map[string]*Machine{"a": m}, Calls: func(func(string, Call) bool) {}}, 1, 0)
		f := r.Film()
		got := f.Frames[len(f.Frames)-1].Changes
		if len(got) != 1 || f.Tables[got[0].Table].Name != "nodes" || got[0].Row[1] != want {
			t.Errorf("%+v, want a node with %q", got, want)
		}
	}
}
