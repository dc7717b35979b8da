package calico

import (
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
)

// The summaries agree with the record: after every history, counters and blocks equal those of
// a snapshot, and the addresses that a node can still get equal what the oracles count.
func TestLooksAreSnapshots(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "") }
		w := newWorld(Datastore(draw(2)))
		steps := drawStart(draw)
		for range draw(50) {
			steps = append(steps, drawStep(draw))
		}
		for _, s := range steps {
			said := s(w)
			checkLooks(rt, w.Allocator, said)
		}
	})
}

func checkLooks(rt *rapid.T, a *Allocator, said string) {
	s := a.Snapshot()
	var want Totals
	claims, affine := map[string][]model.Claim{}, map[model.Affinity]bool{}
	for _, c := range s.Claims {
		claims[c.Pool] = append(claims[c.Pool], c)
	}
	for _, x := range s.Affinities {
		affine[x] = true
		want.Affinities++
		if !a.Node(x.Node).Known {
			want.Stale++
		}
	}
	i := 0
	for b := range a.Blocks() {
		p := s.Pools[i]
		i++
		borrowed := 0
		var got []model.Claim
		for c := range a.Claims(b.Prefix) {
			got = append(got, c)
			if c.Node != "" && c.Node != p.Node {
				borrowed++
			}
		}
		if b.Prefix != p.Range || b.Owner != p.Node || b.InUse != len(claims[p.Name]) || b.Borrowed != borrowed ||
			b.Affine != affine[model.Affinity{Block: p.Range, Node: p.Node, State: model.Confirmed}] || len(got) != b.InUse {
			rt.Fatalf("%s: %+v is not %+v with %d of %d borrowed", said, b, p, borrowed, len(claims[p.Name]))
		}
		want.Blocks++
		want.InUse += b.InUse
		want.Borrowed += borrowed
		if b.InUse == 0 {
			want.EmptyBlocks++
		}
	}
	if got := a.Totals(); i != len(s.Pools) || got != want {
		rt.Fatalf("%s: %+v, not %+v", said, got, want)
	}
	for _, n := range histNodes {
		for _, v6 := range []bool{false, true} {
			if got, want := a.Free(n, v6), model.Free([]model.Network{a.Network(!v6, v6)}, s, "", n); got != want {
				rt.Fatalf("%s: %d are free for %s, IPv6 %v, not %d: %+v", said, got, n, v6, want, s)
			}
		}
	}
}
