package route_test

import (
	"slices"
	"testing"

	"ipamsim/model/route"
)

func TestFabricCheck(t *testing.T) {
	nodes := []string{"a", "b", "c"}
	tor := func(t route.TopOfRack) route.Fabric { return route.Fabric{Topology: route.ToR, TopOfRack: t} }
	for _, row := range []struct {
		name           string
		f              route.Fabric
		field, problem string
	}{
		{"Calico's default", route.Fabric{}, "", ""},
		{"all of a mesh", route.Fabric{Topology: "mesh", AS: 64600, NoDefaultRoute: []string{"*"}, Down: []route.Session{{A: "a", B: "b"}}, Device: "eno1"}, "", ""},
		{"the owner reflects", route.Fabric{Topology: "reflectors", Reflectors: []string{"a", "c"}}, "", ""},
		{"Wikimedia", tor(route.TopOfRack{AS: 14907, MaxLength: 26, MaxLengthBetween: true, AllowLocalAS: 1, Mesh: true}), "", ""},
		{"a session with a router", route.Fabric{Topology: "tor", Down: []route.Session{{A: "a", B: "tor1"}, {A: "c"}}}, "", ""},

		{"topology", route.Fabric{Topology: "ring"}, "topology", `unknown topology "ring", want one of mesh, reflectors, tor`},
		{"nobody reflects", route.Fabric{Topology: "reflectors"}, "reflectors", "topology reflectors needs at least one node that reflects"},
		{"unknown reflector", route.Fabric{Topology: "reflectors", Reflectors: []string{"a", "x"}}, "reflectors[1]", `no node "x"`},
		{"reflectors of a mesh", route.Fabric{Reflectors: []string{"a"}}, "reflectors", "reflectors are for topology reflectors"},
		{"routers of a mesh", route.Fabric{TopOfRack: route.TopOfRack{DistinctAS: true}}, "tor", "tor is for topology tor"},
		{"length", tor(route.TopOfRack{MaxLength: 33}), "tor.maxLength", "33 is no prefix length, want 0 to 32"},
		{"length between", tor(route.TopOfRack{MaxLengthBetween: true}), "tor.maxLengthBetween", "needs maxLength or maxLength6"},
		{"allowed local AS", tor(route.TopOfRack{AllowLocalAS: 11}), "tor.allowLocalAS", "want 0 to 10, as numAllowedLocalASNumbers"},
		{"mesh of distinct AS", tor(route.TopOfRack{DistinctAS: true, Mesh: true}), "tor.mesh", "a mesh beside the routers needs one AS number for all nodes, not distinctAS"},
		{"default route", route.Fabric{NoDefaultRoute: []string{"x"}}, "noDefaultRoute[0]", `no node "x"`},
		{"session", route.Fabric{Down: []route.Session{{A: "a", B: "b"}, {A: "x", B: "b"}}}, "down[1].a", `no node or router "x"`},
		{"session's end", route.Fabric{Down: []route.Session{{A: "a", B: "x"}}}, "down[0].b", `no node or router "x"`},
		{"session with itself", route.Fabric{Down: []route.Session{{A: "a", B: "a"}}}, "down[0].b", "a session needs two ends"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if field, problem := row.f.Check(nodes); field != row.field || problem != row.problem {
				t.Errorf("have %q: %q\nwant %q: %q", field, problem, row.field, row.problem)
			}
		})
	}
}

// One router a subnet, sorted, at its first address, unless a node is there.
func TestRouters(t *testing.T) {
	f := route.Fabric{Topology: route.ToR}
	got := f.Routers([]route.Node{node("a", "10.64.16.55/22"), node("b", "10.64.0.247/22"), node("c", "10.64.0.9/22"), node("d", "10.9.0.1/24")})
	want := []route.Router{{Name: "tor1", Addr: cidr("10.64.0.1/22")}, {Name: "tor2", Addr: cidr("10.64.16.1/22")}}
	if !slices.Equal(got, want) {
		t.Errorf("have %v, want %v", got, want)
	}
}
