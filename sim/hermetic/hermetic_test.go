package hermetic_test

import (
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

func needHermetic(t testing.TB) {
	if !hermetic.Enabled {
		t.Skip("NOT TESTED: this is the stock runtime, on which a seed does not repeat; use: make test")
	}
}

// load keeps n processors busy until the test ends.
func load(t *testing.T, n int) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for b := []byte(nil); !stop.Load(); {
				b = append(b[:0], make([]byte, 1<<14)...)
			}
		})
	}
	t.Cleanup(func() { stop.Store(true); wg.Wait() })
}

func procs(t *testing.T, n int) {
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// One seed gives one run, whatever else the machine does.
func TestRepeats(t *testing.T) {
	needHermetic(t)
	want := map[uint64]string{}
	check := func(t *testing.T, repeats int) {
		o := newOutside(t)
		for range repeats {
			for seed := uint64(1); seed <= 3; seed++ {
				got, foreign := mixed(t, seed, o)
				if want[seed] == "" {
					want[seed] = got
				}
				if got != want[seed] {
					t.Errorf("seed %d: digest %s, first was %s", seed, got, want[seed])
				}
				if foreign != 0 {
					t.Errorf("seed %d: %d foreign wake-ups", seed, foreign)
				}
			}
		}
	}
	idle, loaded := 20, 5
	if !longtest.On() {
		idle, loaded = 4, 1
	}
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprintf("idle/procs=%d", n), func(t *testing.T) { procs(t, n); check(t, idle) })
		t.Run(fmt.Sprintf("loaded/procs=%d", n), func(t *testing.T) { procs(t, n); load(t, n); check(t, loaded) })
	}
	if want[1] == want[2] || want[2] == want[3] || want[1] == want[3] {
		t.Errorf("seeds do not differ: %v", want)
	}
}

// Bubbles in one process do not influence one another.
func TestConcurrentBubbles(t *testing.T) {
	needHermetic(t)
	o := newOutside(t)
	const seeds = 6
	var want [seeds]string
	for s := range want {
		want[s], _ = mixed(t, uint64(s), o)
	}
	t.Run("group", func(t *testing.T) {
		for s := range want {
			for copy := range 2 {
				t.Run(fmt.Sprintf("seed=%d/copy=%d", s, copy), func(t *testing.T) {
					t.Parallel()
					for range 5 {
						if got, foreign := mixed(t, uint64(s), o); got != want[s] || foreign != 0 {
							t.Errorf("digest %s with %d foreign wake-ups, alone it was %s", got, foreign, want[s])
						}
					}
				})
			}
		}
	})
}

// order has six goroutines that become runnable together say so.
func order(t *testing.T, seed uint64, stream []byte) string {
	var d diary
	inBubble(t, seed, func() {
		if stream != nil {
			hermetic.SetStream(stream)
		}
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() { d.log("%d", g) })
		}
		wg.Wait()
	})
	return d.sb.String()
}

func mapOrder(t *testing.T, seed uint64) (s string) {
	inBubble(t, seed, func() {
		m := map[int]bool{1: true, 2: true, 3: true, 4: true}
		for k := range m {
			s += fmt.Sprint(k)
		}
	})
	return s
}

func selectOrder(t *testing.T, seed uint64) (s string) {
	inBubble(t, seed, func() {
		a, b := make(chan int, 9), make(chan int, 9)
		for range 5 {
			a <- 1
			b <- 2
			select {
			case <-a:
				s += "a"
			case <-b:
				s += "b"
			}
		}
	})
	return s
}

func timerOrder(t *testing.T, seed uint64) string {
	var d diary
	inBubble(t, seed, func() {
		for g := range 4 {
			time.AfterFunc(time.Second, func() { d.log("%d", g) })
		}
		time.Sleep(2 * time.Second)
	})
	return d.sb.String()
}

func randOrder(t *testing.T, seed uint64) (s string) {
	inBubble(t, seed, func() { s = fmt.Sprint(rand.Intn(10), rand.Intn(10)) })
	return s
}

// Different seeds differ in each of the things that a seed decides, and each
// repeats.
func TestVaries(t *testing.T) {
	needHermetic(t)
	const seeds = 200
	for _, c := range []struct {
		name     string
		of       func(*testing.T, uint64) string
		variants int // at least this many among 200 seeds
	}{
		{"hand-over", func(t *testing.T, s uint64) string { return order(t, s, nil) }, 100}, // of 720
		{"map", mapOrder, 4}, // of 4: small maps only rotate
		{"select", selectOrder, 20},
		{"timers", timerOrder, 20}, // of 24
		{"rand", randOrder, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]int{}
			for s := range uint64(seeds) {
				a, b := c.of(t, s), c.of(t, s)
				if a != b {
					t.Fatalf("seed %d: %s, then %s", s, a, b)
				}
				seen[a]++
			}
			t.Logf("%d variants in %d seeds", len(seen), seeds)
			if len(seen) < c.variants {
				t.Errorf("%d variants in %d seeds, want %d", len(seen), seeds, c.variants)
			}
		})
	}
}

// A stream of choices decides the hand-overs alone; zeros are first come, first
// served.
func TestStream(t *testing.T) {
	needHermetic(t)
	for _, c := range []struct {
		stream []byte
		want   string
	}{
		{[]byte{}, "012345"},
		{[]byte{5}, "501234"},
		{[]byte{5, 4, 3, 2, 1}, "543210"},
		{[]byte{0, 0, 0, 2}, "012534"},
	} {
		for seed := range uint64(3) {
			if got := order(t, seed, c.stream); got != c.want {
				t.Errorf("seed %d, stream %v: %s, want %s", seed, c.stream, got, c.want)
			}
		}
	}
}

// A missing Pin is counted.
func TestForeignCounts(t *testing.T) {
	needHermetic(t)
	reply := make(chan int)
	before := hermetic.Foreign()
	foreign := inBubble(t, 1, func() {
		go func() {}()
		time.AfterFunc(time.Second, func() {})
		synctest.Wait()
		if n := hermetic.Foreign(); n != 0 {
			t.Errorf("%d foreign wake-ups before the call", n)
		}
		outsideTimer(t, reply)
		<-reply
	})
	if foreign != 1 || hermetic.Foreign()-before < foreign {
		t.Errorf("%d foreign wake-ups in the bubble, %d in the process, want 1", foreign, hermetic.Foreign()-before)
	}
}

// outsideTimer has a goroutine outside the bubble send on c a little later.
func outsideTimer(t *testing.T, c chan int) {
	hermetic.Pin(true)
	defer hermetic.Pin(false)
	senders <- c
}

var senders = make(chan chan int)

func init() {
	go func() {
		for c := range senders {
			time.Sleep(5 * time.Millisecond)
			c <- 1
		}
	}()
}

// What a package builds once, on first use, does not make the first run differ
// from the later ones.
func TestFirstUse(t *testing.T) {
	needHermetic(t)
	var once sync.Once
	var table map[int]int
	var cache sync.Map
	run := func() (s []int) {
		inBubble(t, 7, func() {
			once.Do(func() {
				source := map[int]int{}
				for i := range 100 {
					source[i] = i
				}
				table = map[int]int{}
				for k, v := range source {
					table[k] = v
					cache.Store(k, v)
				}
			})
			for k := range table {
				s = append(s, k)
			}
			cache.Range(func(k, _ any) bool { s = append(s, k.(int)); return true })
			s = append(s, rand.Int())
		})
		return s
	}
	if first, later := run(), run(); !slices.Equal(first, later) {
		t.Errorf("first run %v\nlater run %v", first, later)
	}
}

// Thousands of bubbles in one process: the last is like the first.
func TestManyBubbles(t *testing.T) {
	needHermetic(t)
	want := order(t, 42, nil)
	for s := range uint64(5000) {
		order(t, s, nil)
	}
	if got := order(t, 42, nil); got != want {
		t.Errorf("after 5000 other bubbles %s, before %s", got, want)
	}
}

// The overlay works in the workers of go test -fuzz.
func FuzzRepeats(f *testing.F) {
	needHermetic(f)
	f.Add(uint64(1))
	o := newOutside(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		a, fa := mixed(t, seed, o)
		b, fb := mixed(t, seed, o)
		if a != b || fa+fb != 0 {
			t.Fatalf("seed %d: %s, then %s; %d foreign wake-ups", seed, a, b, fa+fb)
		}
	})
}
