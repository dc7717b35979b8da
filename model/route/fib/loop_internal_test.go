package fib

import (
	"net/netip"
	"testing"
)

// Losses are found by walking from every node to one address, with cached results. The result at a
// place in the middle of a loop is not complete: half of y's flows come back to x and arrive.
func TestWalkAgainFromInsideALoop(t *testing.T) {
	addr, all := netip.MustParseAddr, netip.MustParsePrefix("10.0.0.0/8")
	x, y, pods := addr("192.168.0.1"), addr("192.168.0.2"), addr("192.168.0.3")
	tables := NewTables([]Place{
		{Name: "x", Addrs: []netip.Addr{x}, Up: true, Routes: []Route{{Dst: all, Via: []netip.Addr{y, pods}}}},
		{Name: "y", Addrs: []netip.Addr{y}, Up: true, Routes: []Route{{Dst: all, Via: []netip.Addr{x}}}},
		{Name: "pods", Addrs: []netip.Addr{pods}, Up: true, Routes: []Route{{Dst: netip.MustParsePrefix("10.0.0.5/32"), Dev: "cali1"}}},
	})
	tables.w.begin(tables, addr("10.0.0.5"))
	for i := range tables.Forwarders {
		if _, some := Arrives(tables.ways(tables.w.all(i))); !some {
			t.Errorf("no flow arrives from %s", tables.Forwarders[i].Name)
		}
	}
}
