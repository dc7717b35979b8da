package nodeipam

import (
	"net/netip"
	"testing"

	"ipamsim/model"
	"ipamsim/model/capacity"
)

// Slices are handed out in turn, not lowest first, and no node gets the slices of the
// services' range. host-local assigns addresses the same way.
func TestTurns(t *testing.T) {
	r := model.Range{Prefix: netip.MustParsePrefix("10.244.0.0/22"), Slice: 24, Exclude: []netip.Prefix{netip.MustParsePrefix("10.244.1.0/24")}}
	c, err := cut(r)
	if err != nil || len(c.slices) != 4 {
		t.Fatalf("%v: %v", c, err)
	}
	var got []int
	for range 3 {
		at, ok := c.take()
		if !ok {
			t.Fatal("full")
		}
		got = append(got, at)
	}
	if _, ok := c.take(); ok || got[0] != 0 || got[1] != 2 || got[2] != 3 {
		t.Errorf("%v", got)
	}
	c.taken[2] = false
	if at, ok := c.take(); !ok || at != 2 {
		t.Errorf("%d %v", at, ok)
	}
	h := newHost("n", netip.MustParsePrefix("10.244.0.0/29"))
	pod := &capacity.Pod{Container: "c"}
	for _, want := range []string{"10.244.0.2", "10.244.0.3", "10.244.0.4", "10.244.0.5", "10.244.0.6"} {
		if a, ok := h.reserve(pod); !ok || a.String() != want {
			t.Fatalf("%s, want %s", a, want)
		}
	}
	if a, ok := h.reserve(pod); ok {
		t.Errorf("%s of a full range", a)
	}
	delete(h.used, netip.MustParseAddr("10.244.0.4"))
	if a, ok := h.reserve(pod); !ok || a.String() != "10.244.0.4" {
		t.Errorf("%s", a)
	}
	if _, err := cut(model.Range{Prefix: r.Prefix}); err == nil {
		t.Error("a range without slices is cut")
	}
}
