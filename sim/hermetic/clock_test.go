package hermetic_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ipamsim/sim/hermetic"
)

// start is when every bubble begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// wall is the calendar time of the calling goroutine's clock since the start of
// the bubble.
func wall() time.Duration { return time.Now().Round(0).Sub(start) }

// A jump reaches every goroutine and timer that the process has started, and no others.
func TestClockJumps(t *testing.T) {
	needHermetic(t)
	synctest.Test(t, func(t *testing.T) {
		var ahead time.Duration
		hourly := make(chan time.Duration)
		process := make(chan func(), 1)
		var late, timer time.Duration
		go func() {
			hermetic.SetProcess(&hermetic.Process{Ahead: &ahead})
			time.AfterFunc(2*time.Hour, func() { late = wall() })
			after := time.After(2 * time.Hour)
			go func() {
				for range 3 {
					hourly <- wall()
					time.Sleep(time.Hour)
				}
				timer = (<-after).Round(0).Sub(start)
			}()
			for f := range process {
				f()
			}
		}()
		for i, want := range []time.Duration{0, time.Hour + 24*time.Hour, 2*time.Hour - time.Minute} {
			if got := <-hourly; got != want {
				t.Errorf("hour %d: the child's clock says %v, want %v", i, got, want)
			}
			if got := wall(); got != time.Duration(i)*time.Hour {
				t.Errorf("hour %d: our own clock says %v", i, got)
			}
			ahead = 24 * time.Hour
			if i > 0 {
				ahead = -time.Minute // the clock goes backwards
			}
		}
		close(process)
		time.Sleep(2 * time.Hour)
		if want := 2*time.Hour - time.Minute; late != want || timer != want {
			t.Errorf("the timer's function saw %v, its channel %v, want %v", late, timer, want)
		}
	})
}

// What a program measures or waits for does not see the wall clock jump, as on a
// real machine.
func TestMonotonicStays(t *testing.T) {
	needHermetic(t)
	synctest.Test(t, func(t *testing.T) {
		var ahead time.Duration
		process := &hermetic.Process{Ahead: &ahead}
		if was := hermetic.SetProcess(process); was != nil {
			t.Errorf("a process was set before: %v", was)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		deadline, _ := ctx.Deadline()
		ahead = -time.Hour
		time.Sleep(time.Second)
		if got := time.Since(began); got != time.Second {
			t.Errorf("time.Since saw the jump: %v", got)
		}
		if got := time.Until(deadline); got != 59*time.Second {
			t.Errorf("time.Until saw the jump: %v", got)
		}
		if got, want := time.Now().Round(0).Sub(began.Round(0)), time.Second-time.Hour; got != want {
			t.Errorf("the calendar moved by %v, want %v", got, want)
		}
		if got, want := began.String(), " m=+0.000000001"; !strings.HasSuffix(got, want) {
			t.Errorf("printed %s, want an end of %s in every process", got, want)
		}
		if was := hermetic.SetProcess(nil); was != process {
			t.Error("SetProcess did not return the process that was set")
		}
		if got := time.Now().UTC().String(); got != "2000-01-01 00:00:01 +0000 UTC" {
			t.Errorf("without a process time reads %s", got)
		}
	})
}
