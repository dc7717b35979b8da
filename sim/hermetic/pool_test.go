package hermetic_test

//lint:file-ignore SA6002 which value comes back is what is looked at, not what it costs

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"ipamsim/sim/hermetic"
)

// In a bubble a pool returns the stored values, the last first, however often the collector runs.
func TestPoolRemembers(t *testing.T) {
	needPool(t)
	p := sync.Pool{New: func() any { return "new" }}
	synctest.Test(t, func(t *testing.T) {
		p.Put("a")
		p.Put("b")
		hermetic.Pin(true)
		runtime.GC()
		runtime.GC()
		hermetic.Pin(false)
		if got := fmt.Sprint([]any{p.Get(), p.Get(), p.Get()}); got != "[b a new]" {
			t.Errorf("got %s", got)
		}
	})
}

// What one bubble or the world outside has put into a pool stays there.
func TestPoolDoesNotCrossTheWall(t *testing.T) {
	needPool(t)
	var p sync.Pool
	p.Put("outside")
	for _, mine := range []string{"first", "second"} {
		synctest.Test(t, func(t *testing.T) {
			if x := p.Get(); x != nil {
				t.Errorf("the %s bubble found %v", mine, x)
			}
			p.Put(mine)
		})
	}
	if x := p.Get(); x != nil && x != "outside" {
		t.Errorf("outside, the pool holds %v", x)
	}
}

// Concurrent bubbles share a pool but not its values.
func TestPoolOfManyBubbles(t *testing.T) {
	needPool(t)
	var p sync.Pool
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			synctest.Test(t, func(t *testing.T) {
				p.Put(i)
				for range 10_000 {
					x, ok := p.Get().(int)
					if !ok || x != i {
						t.Errorf("bubble %d got %v", i, x)
						return
					}
					p.Put(x)
				}
			})
		})
	}
	all.Wait()
}

func needPool(t *testing.T) {
	needHermetic(t)
	if raceEnabled() {
		t.Skip("NOT TESTED: builds for the race detector by-pass pools in bubbles")
	}
}

// raceEnabled detects the race detector without a build tag: under it a pool outside of bubbles
// drops a quarter of the stored values.
func raceEnabled() bool {
	var p sync.Pool
	for range 200 {
		p.Put(1)
		if p.Get() == nil {
			return true
		}
	}
	return false
}
