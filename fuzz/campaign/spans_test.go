package campaign

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/fuzz/campaign/queue"
)

// TestSpans: seeds that are added in any pieces, in any order and repeatedly make the same set; the
// gaps are the missing seeds.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s queue.Spans
		want := map[uint64]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			from := rapid.Uint64Range(0, 40).Draw(t, "from")
			p := queue.Span{From: from, To: from + rapid.Uint64Range(0, 10).Draw(t, "length")}
			before := len(want)
			for x := p.From; x < p.To; x++ {
				want[x] = true
			}
			if fresh := s.Add(p); fresh != uint64(len(want)-before) {
				t.Fatalf("%v is %d new, want %d", p, fresh, len(want)-before)
			}
		}
		for i := 1; i < len(s); i++ {
			if s[i-1].To >= s[i].From {
				t.Fatalf("%v touch", s)
			}
		}
		for len(want) < 60 {
			g := s.Gap(0, 3)
			if g.To <= g.From || g.To > g.From+3 {
				t.Fatalf("gap %v of %v", g, s)
			}
			for x := g.From; x < g.To; x++ {
				if want[x] {
					t.Fatalf("gap %v of %v is no gap", g, s)
				}
				want[x] = true
			}
			s.Add(g)
		}
		if len(s) != 1 || s[0].From != 0 {
			t.Fatalf("gaps were left: %v", s)
		}
	})
}

func TestPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[uint64]bool{}
		all := rapid.SliceOf(rapid.Uint64()).Draw(t, "numbers")
		for _, x := range all {
			want[x] = true
		}
		got := map[uint64]bool{}
		for _, x := range queue.Pack(all).Numbers() {
			got[x] = true
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
