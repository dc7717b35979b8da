package calico

import (
	"net/netip"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
)

// An import continues as the original would have: it has the same record, and assigns the same
// addresses for any further operations. If the free lists are unknown the addresses may differ, but
// the initial record is the same.
func TestRestoreContinues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "") }
		w := newWorld(Datastore(draw(2)))
		for _, s := range drawStart(draw) {
			s(w)
		}
		for range draw(60) {
			drawStep(draw)(w)
		}
		twin, err := w.restored()
		if err != nil {
			rt.Fatal(err)
		}
		for i := range draw(30) {
			if x, y := w.Snapshot(), twin.Snapshot(); !reflect.DeepEqual(x, y) {
				rt.Fatalf("after %d steps\n%+v\nis not\n%+v", i, y, x)
			}
			s := drawStep(draw)
			if x, y := s(w), s(twin); x != y {
				rt.Fatalf("step %d: %s, not %s", i, y, x)
			}
		}
		s := w.Snapshot()
		s.Waiting = nil
		got, err := Restore(w.datastore, s)
		if err != nil {
			rt.Fatal(err)
		}
		again := got.Snapshot()
		again.Waiting = nil
		if !reflect.DeepEqual(s, again) {
			rt.Fatalf("without free lists\n%+v\nis not\n%+v", again, s)
		}
	})
}

// A record that this reference cannot produce is refused.
func TestRestoreRefuses(t *testing.T) {
	at := netip.MustParsePrefix("10.0.0.0/30")
	good := func() model.Snapshot {
		return model.Snapshot{
			Pools:      []model.Pool{{Name: "10.0.0.0-30", Range: at, Node: "a"}},
			Claims:     []model.Claim{{Pool: "10.0.0.0-30", Addr: at.Addr(), Handle: "h"}},
			Affinities: []model.Affinity{{Block: at, Node: "a", State: model.Confirmed}},
			Waiting:    []model.Waiting{{Block: at, Free: []int{3, 1, 2}}},
		}
	}
	if a, err := Restore(Etcd, good()); err != nil || a.Waiting(at)[0] != netip.MustParseAddr("10.0.0.3") {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(*model.Snapshot){
		"an affinity that is pending":          func(s *model.Snapshot) { s.Affinities[0].State = model.Pending },
		"an affinity of no node":               func(s *model.Snapshot) { s.Affinities[0].Node = "virtual:lb" },
		"a block of no node":                   func(s *model.Snapshot) { s.Pools[0].Node = "virtual:lb" },
		"a block of one address":               func(s *model.Snapshot) { s.Pools[0].Range = netip.PrefixFrom(at.Addr(), 32) },
		"a block that is no prefix":            func(s *model.Snapshot) { s.Pools[0].Range = netip.Prefix{} },
		"a block with host bits":               func(s *model.Snapshot) { s.Pools[0].Range = netip.MustParsePrefix("10.0.0.1/30") },
		"two blocks of one prefix":             func(s *model.Snapshot) { s.Pools = append(s.Pools, s.Pools[0]) },
		"a claim without a handle":             func(s *model.Snapshot) { s.Claims[0].Handle = "" },
		"a claim of a block that is not there": func(s *model.Snapshot) { s.Claims[0].Pool = "b" },
		"a claim outside of its block":         func(s *model.Snapshot) { s.Claims[0].Addr = netip.MustParseAddr("10.0.0.4") },
		"a claim of an address twice":          func(s *model.Snapshot) { s.Claims = append(s.Claims, s.Claims[0]) },
		"a handle without a name":              func(s *model.Snapshot) { s.Handles = []model.Handle{{}} },
		"a free address that is held":          func(s *model.Snapshot) { s.Waiting[0].Free[0] = 0 },
		"a free list that lacks an address":    func(s *model.Snapshot) { s.Waiting[0].Free = []int{1, 3} },
		"a free list beyond the block":         func(s *model.Snapshot) { s.Waiting[0].Free[0] = 1<<16 + 3 },
	} {
		s := good()
		spoil(&s)
		if a, err := Restore(Kubernetes, s); err == nil {
			t.Errorf("%s makes %+v", what, a.Snapshot())
		}
	}
}
