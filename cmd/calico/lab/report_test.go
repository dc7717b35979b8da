package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What counts as failed: a topology that did not come up, a table or a pair that
// differs, one without a single pair; a timing too far from the model's.
func TestSums(t *testing.T) {
	ms := func(d ...time.Duration) (m measured) {
		m.event.model, m.event.give = 10*time.Millisecond, 5*time.Millisecond
		for _, d := range d {
			m.took = append(m.took, d*time.Millisecond)
		}
		return m
	}
	for _, c := range []struct {
		name   string
		row    row
		failed int
	}{
		{"agrees", result{pairs: 24, agreed: 24, lost: 3}, 0},
		{"a pair differs", result{pairs: 24, agreed: 23}, 1},
		{"a table differs", result{pairs: 24, agreed: 24, tablesDiffer: 1}, 1},
		{"did not converge", result{err: errors.New("not converged after 1m30s")}, 1},
		{"nothing was pinged", result{}, 1},
		{"the kernel has no such tunnel", result{mute: 24}, 0},
		{"nor is the table right", result{mute: 24, tablesDiffer: 1}, 1},
		{"in time", ms(6, 9, 15), 0},
		{"once late", ms(6, 9, 16), 0},
		{"late", ms(6, 16, 17), 1},
		{"early", ms(1, 4, 15), 1},
		{"not measured", ms(), 1},
		{"not measurable", measured{err: errors.New("route did not go")}, 1},
	} {
		var s sums
		c.row.add(&s)
		if s.failed != c.failed {
			t.Errorf("%s: %d failed, want %d", c.name, s.failed, c.failed)
		}
		var b strings.Builder
		c.row.print(&b)
		if said := strings.Contains(b.String(), "DIFFERS") || strings.Contains(b.String(), "FAILED"); said != (c.failed > 0) {
			t.Errorf("%s: failed %d, and it says %q", c.name, c.failed, b.String())
		}
	}
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		831_499: "831µs", 2_065_432_100: "2.07s", 0: "0s", 122 * time.Second: "2m2s", 3999999: "4ms",
	} {
		if got := round(d).String(); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
