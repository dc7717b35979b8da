package fib_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"ipamsim/model/route/fib"
)

func via(dst string, hops ...string) fib.Route {
	r := fib.Route{Dst: netip.MustParsePrefix(dst), Dev: "eth0"}
	for _, h := range hops {
		r.Via = append(r.Via, netip.MustParseAddr(h))
	}
	return r
}

// Tables from elsewhere can be walked through as well: the lab's are a kernel's.
func TestWalk(t *testing.T) {
	place := func(name, addr string, routes ...fib.Route) fib.Place {
		return fib.Place{Name: name, Addrs: []netip.Addr{netip.MustParseAddr(addr)}, Up: true, Routes: routes}
	}
	off := place("off", "192.168.0.9")
	off.Up = false
	tables := fib.NewTables([]fib.Place{
		place("x", "192.168.0.1", via("10.0.0.0/8", "192.168.0.2", "192.168.0.3"), via("10.1.0.0/16", "192.168.0.2"),
			via("10.2.0.0/16", "192.168.0.9"), via("10.3.0.0/16", "192.168.0.77"), via("192.168.0.0/24")),
		place("y", "192.168.0.2", via("10.0.0.0/8", "192.168.0.1")),
		place("pods", "192.168.0.3", fib.Route{Dst: netip.MustParsePrefix("10.0.0.5/32"), Dev: "cali1"}, fib.Route{Dst: netip.MustParsePrefix("10.0.0.0/26"), Type: fib.Blackhole, Proto: fib.BIRD},
			fib.Route{Dst: netip.MustParsePrefix("10.4.0.0/16"), Type: fib.Refuse, Proto: fib.BIRD}),
		off,
	})
	const loop = "10.0.0.0/8 via 192.168.0.1 dev eth0"
	for _, row := range []struct {
		name, from, to string
		want           []fib.Way
	}{
		{"a pod of its own", "pods", "10.0.0.5", []fib.Way{{End: fib.Delivered, At: "pods", Route: "10.0.0.5 dev cali1 scope link"}}},
		{"nothing more specific than the blackhole", "pods", "10.0.0.6", []fib.Way{{End: fib.Blackholed, At: "pods", Route: "blackhole 10.0.0.0/26 proto bird"}}},
		{"a route that says no", "pods", "10.4.0.1", []fib.Way{{End: fib.Unreachable, At: "pods", Route: "unreachable 10.4.0.0/16 proto bird"}}},
		{"no route at all", "pods", "11.0.0.1", []fib.Way{{End: fib.Unreachable, At: "pods"}}},
		{"a neighbour on the link", "x", "192.168.0.3", []fib.Way{{End: fib.Delivered, At: "pods"}}},
		{"nobody on the link", "x", "192.168.0.66", []fib.Way{{End: fib.Dead, At: "x", Route: "192.168.0.0/24 dev eth0 scope link"}}},
		{"a next hop without power", "x", "10.2.0.1", []fib.Way{{End: fib.Dead, At: "x", Route: "10.2.0.0/16 via 192.168.0.9 dev eth0"}}},
		{"a next hop that is nobody's", "x", "10.3.0.1", []fib.Way{{End: fib.Dead, At: "x", Route: "10.3.0.0/16 via 192.168.0.77 dev eth0"}}},
		{"a circle", "x", "10.1.0.1", []fib.Way{{End: fib.Looping, At: "y", Route: loop}}},
		{"by flow: a circle or the pod", "x", "10.0.0.5",
			[]fib.Way{{End: fib.Delivered, At: "pods", Route: "10.0.0.5 dev cali1 scope link"}, {End: fib.Looping, At: "y", Route: loop}}},
		{"from a place without power", "off", "10.0.0.5", nil},
		{"from nowhere", "z", "10.0.0.5", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := tables.Walk(row.from, netip.MustParseAddr(row.to))
			for i := range got {
				if w := &got[i]; w.Route != "" && !strings.Contains(w.Route, w.Dst.Addr().String()) {
					t.Errorf("%s is for %s?", w.Route, w.Dst)
				}
				got[i].Dst = netip.Prefix{} // the text contains it
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("have %+v\nwant %+v", got, row.want)
			}
		})
	}
}
