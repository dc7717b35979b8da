package sim_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// page is a Detail of a number of bytes; a shortened one has 0.
type page int

func (p page) Size() int  { return int(p) }
func (p page) Short() any { return page(0) }

// kept runs a process that sends a message for each of the details, and returns the details
// that the trace has at the end.
func kept(t fataler, most int, details ...any) (kept []any, digest uint64) {
	o := single(strategy.NewSerial())
	o.Limits.Details = most
	tr, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		start(w, sim.Process{ID: "a", Run: func(ctx context.Context, g *sim.Gate) error {
			for i, d := range details {
				say := func(ctx context.Context) error { sim.Report(ctx, "ok", d); return nil }
				if err := g.Pass(ctx, sim.Op{Key: fmt.Sprint(i)}, say); err != nil {
					return err
				}
			}
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tr.Steps {
		kept = append(kept, s.Detail)
	}
	return kept, tr.Digest()
}

type fataler interface{ Fatal(...any) }

// With a bound of 2,560 bytes a Detail may have at most ten bytes. The oldest are shortened first;
// Details that are not Long stay.
func TestDetailsAreBounded(t *testing.T) {
	const most = 2560
	all := []any{page(7), "a word", page(10), page(11)}
	want := []any{page(0), "a word", page(0), page(0)}
	for range most / 10 {
		all, want = append(all, page(10)), append(want, page(10))
	}
	got, digest := kept(t, most, all...)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	got, free := kept(t, 0, all...)
	if d := cmp.Diff(all, got); d != "" {
		t.Errorf("by default a trace has room for them; -want +got:\n%s", d)
	}
	if free != digest {
		t.Error("what is kept moves the digest")
	}
}

// Law: a trace keeps the newest Details that are not too long individually, as many as fit.
func TestDetailsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(256, 2000).Draw(t, "most")
		sizes := rapid.SliceOfN(rapid.IntRange(0, most/100), 1, 600).Draw(t, "sizes")
		var all []any
		for _, n := range sizes {
			all = append(all, page(n))
		}
		want, room, full := slices.Clone(all), most, false
		for i, n := range slices.Backward(sizes) {
			switch {
			case n > most/256:
				want[i] = page(0)
			case full || n > room:
				full = true
				want[i] = page(0)
			default:
				room -= n
			}
		}
		if got, _ := kept(t, most, all...); !slices.Equal(got, want) {
			t.Fatalf("of %v\nin %d are left\n%v, want\n%v", sizes, most, got, want)
		}
	})
}
