package route_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"ipamsim/model/route"
)

func via(dst string, hops ...string) route.Route {
	r := route.Route{Dst: cidr(dst), Dev: "eth0"}
	for _, h := range hops {
		r.Via = append(r.Via, ip(h))
	}
	return r
}

// Tables from elsewhere can be walked through as well: the lab's are a kernel's.
func TestWalk(t *testing.T) {
	place := func(name, addr string, routes ...route.Route) route.Place {
		return route.Place{Name: name, Addrs: []netip.Addr{ip(addr)}, Up: true, Routes: routes}
	}
	off := place("off", "192.168.0.9")
	off.Up = false
	tables := route.NewTables([]route.Place{
		place("x", "192.168.0.1", via("10.0.0.0/8", "192.168.0.2", "192.168.0.3"), via("10.1.0.0/16", "192.168.0.2"),
			via("10.2.0.0/16", "192.168.0.9"), via("10.3.0.0/16", "192.168.0.77"), via("192.168.0.0/24")),
		place("y", "192.168.0.2", via("10.0.0.0/8", "192.168.0.1")),
		place("pods", "192.168.0.3", route.Route{Dst: cidr("10.0.0.5/32"), Dev: "cali1"}, route.Route{Dst: cidr("10.0.0.0/26"), Type: route.Blackhole, Proto: route.BIRD},
			route.Route{Dst: cidr("10.4.0.0/16"), Type: route.Refuse, Proto: route.BIRD}),
		off,
	})
	const loop = "10.0.0.0/8 via 192.168.0.1 dev eth0"
	for _, row := range []struct {
		name, from, to string
		want           []route.Way
	}{
		{"a pod of its own", "pods", "10.0.0.5", []route.Way{{End: route.Delivered, At: "pods", Route: "10.0.0.5 dev cali1 scope link"}}},
		{"nothing more specific than the blackhole", "pods", "10.0.0.6", []route.Way{{End: route.Blackholed, At: "pods", Route: "blackhole 10.0.0.0/26 proto bird"}}},
		{"a route that says no", "pods", "10.4.0.1", []route.Way{{End: route.Unreachable, At: "pods", Route: "unreachable 10.4.0.0/16 proto bird"}}},
		{"no route at all", "pods", "11.0.0.1", []route.Way{{End: route.Unreachable, At: "pods"}}},
		{"a neighbour on the link", "x", "192.168.0.3", []route.Way{{End: route.Delivered, At: "pods"}}},
		{"nobody on the link", "x", "192.168.0.66", []route.Way{{End: route.Dead, At: "x", Route: "192.168.0.0/24 dev eth0 scope link"}}},
		{"a next hop without power", "x", "10.2.0.1", []route.Way{{End: route.Dead, At: "x", Route: "10.2.0.0/16 via 192.168.0.9 dev eth0"}}},
		{"a next hop that is nobody's", "x", "10.3.0.1", []route.Way{{End: route.Dead, At: "x", Route: "10.3.0.0/16 via 192.168.0.77 dev eth0"}}},
		{"a circle", "x", "10.1.0.1", []route.Way{{End: route.Looping, At: "y", Route: loop}}},
		{"by flow: a circle or the pod", "x", "10.0.0.5",
			[]route.Way{{End: route.Delivered, At: "pods", Route: "10.0.0.5 dev cali1 scope link"}, {End: route.Looping, At: "y", Route: loop}}},
		{"from a place without power", "off", "10.0.0.5", nil},
		{"from nowhere", "z", "10.0.0.5", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := tables.Walk(row.from, ip(row.to))
			for i := range got {
				if w := &got[i]; w.Route != "" && !strings.Contains(w.Route, w.Dst.Addr().String()) {
					t.Errorf("%s is for %s?", w.Route, w.Dst)
				}
				got[i].Dst = netip.Prefix{} // the text has it
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("have %+v\nwant %+v", got, row.want)
			}
		})
	}
}
