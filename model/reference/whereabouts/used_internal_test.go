package whereabouts

import "testing"

// The lowest gap equals the result of trying one by one, after any additions and removals, at the
// start of a range and far from it.
func TestUsed(t *testing.T) {
	for _, base := range []uint64{0, 1<<62 - 100} {
		var u used
		set := map[uint64]bool{}
		x := uint64(1)
		for step := range 60_000 {
			x = x*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
			n := base + x>>33%9_000
			if step > 20_000 && x>>60 < 9 || step <= 20_000 && x>>60 < 3 {
				delete(set, n)
				u.remove(n)
			} else {
				set[n] = true
				u.add(n)
			}
			if (u.next(n) != n) != set[n] {
				t.Fatal(n)
			}
			if step%97 == 0 {
				from := base + x>>20%9_000
				want := from
				for set[want] {
					want++
				}
				if got := u.next(from); got != want {
					t.Fatalf("from %d: got %d, want %d", from, got, want)
				}
			}
		}
	}
}

// A long row without a gap: every level of the tree has to be climbed.
func TestUsedRow(t *testing.T) {
	var u used
	for x := range uint64(300_000) {
		if got := u.next(0); got != x {
			t.Fatalf("got %d, want %d", got, x)
		}
		u.add(x)
	}
	for _, x := range []uint64{299_999, 262_144, 262_143, 4095, 64, 63, 0} {
		u.remove(x)
		if got := u.next(0); got != x {
			t.Errorf("got %d, want %d", got, x)
		}
	}
	for x := range uint64(300_000) {
		u.remove(x)
	}
	for i, w := range u.words {
		if len(w) > 0 {
			t.Errorf("level %d keeps %d words of nothing", i, len(w))
		}
	}
}
