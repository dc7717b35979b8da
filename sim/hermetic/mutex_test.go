package hermetic_test

//lint:file-ignore SA2001 to get the mutex is the test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ipamsim/sim/hermetic"
)

// Virtual time passes while a goroutine of the bubble waits for a mutex that another
// one holds in its sleep.
func TestMutexWaitIsDurable(t *testing.T) {
	needHermetic(t)
	var mu sync.Mutex
	var rw sync.RWMutex
	for name, l := range map[string]struct{ held, wanted sync.Locker }{
		"Mutex":           {&mu, &mu},
		"writer, writer":  {&rw, &rw},
		"reader, writer":  {rw.RLocker(), &rw},
		"writer, readers": {&rw, rw.RLocker()},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 1, func() {
				begin := time.Now()
				l.held.Lock()
				for range 3 {
					go func() {
						l.wanted.Lock()
						defer l.wanted.Unlock()
						if got := time.Since(begin); got < time.Hour || got > 3*time.Hour {
							t.Errorf("got the mutex after %v", got)
						}
						time.Sleep(time.Minute)
					}()
				}
				synctest.Wait() // returns although they wait
				time.Sleep(time.Hour)
				l.held.Unlock()
				time.Sleep(time.Hour)
			})
		})
	}
}

// holder keeps a mutex outside of all bubbles for a moment of real time.
func holder(mu *sync.Mutex) (held func() bool) {
	locked := make(chan bool)
	go func() {
		mu.Lock()
		locked <- true
		time.Sleep(20 * time.Millisecond)
		mu.Unlock()
	}()
	return func() bool { return <-locked }
}

// A pinned goroutine that waits for a mutex held outside keeps the turn, and virtual
// time stands still.
func TestPinnedMutexWait(t *testing.T) {
	needHermetic(t)
	var mu sync.Mutex
	holder(&mu)()
	foreign := inBubble(t, 1, func() {
		ran := 0
		time.AfterFunc(time.Millisecond, func() { ran++ })
		go func() { ran++ }()
		begin := time.Now()
		hermetic.Pin(true)
		mu.Lock()
		hermetic.Pin(false)
		if passed := time.Since(begin); passed != 0 || ran != 0 {
			t.Errorf("%v passed, and %d others ran", passed, ran)
		}
		mu.Unlock()
		time.Sleep(time.Second)
	})
	if foreign != 0 {
		t.Errorf("%d foreign wake-ups", foreign)
	}
}

// A mutex held outside is not a deadlock, and a goroutine that waits for it without a pin is
// counted.
func TestMutexHeldOutside(t *testing.T) {
	needHermetic(t)
	var mu sync.Mutex
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"by the only goroutine", func() { mu.Lock(); mu.Unlock() }},
		{"after the last timer", func() { time.Sleep(time.Second); mu.Lock(); mu.Unlock() }},
		{"after the end", func() { go func() { mu.Lock(); time.Sleep(0); mu.Unlock() }() }},
		{"by who is waited for", func() {
			done := make(chan bool)
			go func() { mu.Lock(); time.Sleep(time.Second); mu.Unlock(); close(done) }()
			<-done
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := hermetic.Foreign()
			holder(&mu)()
			inBubble(t, 1, c.f)
			if got := hermetic.Foreign() - before; got != 1 {
				t.Errorf("%d foreign wake-ups, want 1", got)
			}
		})
	}
}

// Bubbles of one process share the mutexes of its packages: while another bubble holds one, time
// does not pass for a goroutine that waits for it, and the goroutine is counted.
func TestMutexOfAnotherBubble(t *testing.T) {
	needHermetic(t)
	var mu sync.Mutex
	for range 20 {
		before, held := hermetic.Foreign(), make(chan bool)
		go func() {
			mu.Lock()
			close(held)
			time.Sleep(2 * time.Millisecond)
			mu.Unlock()
		}()
		<-held
		inBubble(t, 1, func() {
			ran := 0
			time.AfterFunc(time.Hour, func() { ran++ })
			begin := time.Now()
			mu.Lock()
			passed := time.Since(begin)
			mu.Unlock()
			if passed != 0 || ran != 0 {
				t.Errorf("%v passed, and %d timers were due", passed, ran)
			}
			time.Sleep(2 * time.Hour)
		})
		if got := hermetic.Foreign() - before; got > 1 {
			t.Errorf("%d foreign wake-ups, want 1", got)
		}
	}
}
