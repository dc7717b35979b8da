package coverage_test

import (
	"net/netip"
	"slices"
	"testing"

	"ipamsim/fuzz/coverage"
	"ipamsim/model"
)

// steps returns the ledger of a range in which pods claim and release addresses: n claims the n-th
// address, -n releases it.
func steps(base string, pod string, actions ...int) *model.Ledger {
	prefix := netip.MustParsePrefix(base)
	pools := []model.Pool{{Name: "pool of " + base, Range: prefix}}
	l := &model.Ledger{}
	l.Note(0, model.Snapshot{Pools: pools})
	var claims []model.Claim
	for i, d := range actions {
		addr := prefix.Addr()
		for range max(d, -d) {
			addr = addr.Next()
		}
		if claims = slices.Clone(claims); d > 0 {
			claims = append(claims, model.Claim{Pool: pools[0].Name, Addr: addr, Pod: model.PodRef{Namespace: "default", Name: pod}})
		} else {
			claims = slices.DeleteFunc(claims, func(c model.Claim) bool { return c.Addr == addr })
		}
		slices.SortFunc(claims, func(a, b model.Claim) int { return a.Addr.Compare(b.Addr) })
		l.Note(i+1, model.Snapshot{Pools: pools, Claims: claims})
	}
	return l
}

// TestAllocators: states differ by what is claimed, and by nothing else.
func TestAllocators(t *testing.T) {
	one := coverage.Allocators(steps("10.0.0.0/24", "web-0", 1, 2, -1))
	for _, tt := range []struct {
		name   string
		l      *model.Ledger
		states int  // of both together
		equal  bool // to those of the first
	}{
		{"other names", steps("10.9.0.0/24", "db-7", 1, 2, -1), 4, true},
		{"back where it was", steps("10.0.0.0/24", "web-0", 1, 2, -1, 1, -1), 4, true},
		{"another order", steps("10.0.0.0/24", "web-0", 2, 1, -1), 4, false},
		{"another address", steps("10.0.0.0/24", "web-0", 1, 3, -1), 6, false},
		{"a smaller range", steps("10.0.0.0/25", "web-0", 1, 2, -1), 8, false},
	} {
		got := coverage.Allocators(tt.l)
		if both, _ := coverage.Merge(slices.Clone(one), got); len(both) != tt.states || slices.Equal(one, got) != tt.equal {
			t.Errorf("%s: %d states in all, want %d; equal: %v", tt.name, len(both), tt.states, slices.Equal(one, got))
		}
	}
	if len(one) != 4 {
		t.Errorf("%d states, want 4: nothing, one, two, the second", len(one))
	}
}

// TestAllocatorsGoBack: a removed row leaves nothing in the state, even if the row or its pool changed in
// between.
func TestAllocatorsGoBack(t *testing.T) {
	small, large := netip.MustParsePrefix("10.0.0.0/25"), netip.MustParsePrefix("10.0.0.0/24")
	pool := func(r netip.Prefix) []model.Pool { return []model.Pool{{Name: "pool", Range: r}} }
	claim := func(pod string) []model.Claim {
		return []model.Claim{{Pool: "pool", Addr: netip.MustParseAddr("10.0.0.1"), Pod: model.PodRef{Namespace: "default", Name: pod}, Handle: "h"}}
	}
	handle := func(blocks ...netip.Prefix) []model.Handle {
		h := model.Handle{ID: "h"}
		for _, b := range blocks {
			h.Counts = append(h.Counts, model.HandleCount{Block: b, Count: 1})
		}
		return []model.Handle{h}
	}
	l := &model.Ledger{}
	for i, s := range []model.Snapshot{
		{Pools: pool(small)},
		{Pools: pool(small), Claims: claim("web-0"), Handles: handle(small)},
		{Pools: pool(large), Claims: claim("web-0"), Handles: handle(small, large)},
		{Pools: pool(large), Claims: claim("web-1"), Handles: handle(large)},
		{Pools: pool(large)},
	} {
		l.Note(i, s)
	}
	if got := coverage.Allocators(l); len(got) != 2 {
		t.Errorf("%d states, want 2: one claim, and none", len(got))
	}
}
