package sim_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ipamsim/sim"
)

// The greatest slowness applies while it lasts, and each end belongs to its own beginning.
func TestSlowness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sim.Slowness
		waits := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			if err := s.Wait(t.Context()); err != nil || time.Since(began) != want {
				t.Errorf("%v (%v), want %v", time.Since(began), err, want)
			}
		}
		waits(0)
		a, b, again := s.Add(time.Second), s.Add(3*time.Second), s.Add(time.Second)
		waits(3 * time.Second)
		b()
		b()
		waits(time.Second)
		a()
		waits(time.Second)
		again()
		waits(0)
		s.Add(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Wait(ctx); err != context.DeadlineExceeded {
			t.Error(err)
		}
	})
}
