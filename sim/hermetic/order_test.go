package hermetic_test

//lint:file-ignore SA1004 a nanosecond of virtual time is meant

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

var (
	moved [][]byte
	heads bool // a coin
)

// elsewhere tosses the coin and makes the following allocations have other addresses than last
// time.
func elsewhere() {
	heads = rand.IntN(2) == 0
	for range rand.IntN(2000) {
		moved = append(moved, make([]byte, 8<<rand.IntN(6)))
	}
	if rand.IntN(3) == 0 {
		moved = nil
	}
}

// alike fails unless run gives the same result in 100 bubbles of one seed, whatever the addresses
// of its allocations.
func alike(t *testing.T, run func() string) {
	needHermetic(t)
	seen := map[string]int{}
	for range 100 {
		elsewhere()
		inBubble(t, 7, func() { seen[run()]++ })
	}
	if len(seen) != 1 {
		t.Errorf("%d different orders in 100 runs, want 1", len(seen))
		for _, s := range slices.Sorted(maps.Keys(seen))[:2] {
			t.Logf("%d times: %s", seen[s], s)
		}
	}
}

// Each of these waits as the loop of a client-go workqueue does: on two timers.
func TestTimersOfASelect(t *testing.T) {
	alike(t, func() string {
		var d diary
		stop := make(chan struct{})
		for g := range 6 {
			go func() {
				beat := time.NewTicker(10 * time.Second)
				defer beat.Stop()
				for {
					next := time.NewTimer(time.Hour)
					select {
					case <-stop:
						return
					case <-beat.C:
					case <-next.C:
					}
					next.Stop()
					d.log("%d", g)
				}
			}()
		}
		time.Sleep(5 * time.Minute)
		close(stop)
		synctest.Wait()
		return d.sb.String()
	})
}

// A timer that is reset to now fires immediately or when all is idle, depending on whether it
// is still in the heap, where its place before or behind another timer depended on a select's
// order.
func TestResetToNow(t *testing.T) {
	alike(t, func() string {
		first := time.AfterFunc(time.Hour, func() {})
		defer first.Stop()
		a, b, c := time.NewTimer(2*time.Hour), time.NewTimer(2*time.Hour), make(chan bool)
		if (fmt.Sprintf("%p", a.C) < fmt.Sprintf("%p", b.C)) != heads {
			a, b = b, a
		}
		b.Reset(3 * time.Hour)
		go func() {
			select {
			case <-a.C:
			case <-b.C:
			case <-c:
			}
		}()
		synctest.Wait()
		go func() { <-a.C }()
		synctest.Wait()
		c <- true // from here on no goroutine waits for b
		synctest.Wait()
		time.Sleep(1)
		defer func() { a.Reset(0); time.Sleep(1) }() // ends its goroutine
		b.Reset(0)
		select {
		case <-b.C:
			return "at once"
		default:
			return "later"
		}
	})
}

// Which case of a channel that stands in two is taken.
func TestSameChannelTwice(t *testing.T) {
	alike(t, func() string {
		var sb strings.Builder
		for range 20 {
			c, done := make(chan int), make(chan string)
			var rest [3]chan int
			for i := range rest {
				rest[i] = make(chan int)
			}
			go func() {
				select {
				case <-rest[0]:
				case <-c:
					done <- "first"
				case <-rest[1]:
				case <-c:
					done <- "second"
				case <-rest[2]:
				}
			}()
			synctest.Wait()
			c <- 1
			fmt.Fprint(&sb, <-done, " ")
		}
		return sb.String()
	})
}

type thing struct{ n int }

// things are 40 pointers, by no means in the order of their addresses.
func things() []*thing {
	all := make([]*thing, 40)
	for i := range all {
		all[i] = &thing{i}
		if rand.IntN(2) == 0 {
			moved = append(moved, make([]byte, unsafe.Sizeof(thing{})))
		}
	}
	return all
}

// ordered puts 40 keys into a map, deletes some and adds them again, and says in
// which order they come.
func ordered[K comparable](key func(*thing) K) func() string {
	return func() string {
		m := map[K]int{}
		all := things()
		for _, x := range all {
			m[key(x)] = x.n
		}
		for i := 0; i < 40; i += 3 {
			delete(m, key(all[i]))
		}
		m[key(all[6])] = 6
		var sb strings.Builder
		for range 3 {
			for _, n := range m {
				fmt.Fprint(&sb, n, " ")
			}
			time.Sleep(time.Second)
		}
		for _, n := range maps.Clone(m) {
			fmt.Fprint(&sb, n, " ")
		}
		return sb.String()
	}
}

func TestKeysWithAddresses(t *testing.T) {
	for name, run := range map[string]func() string{
		"pointer":   ordered(func(x *thing) *thing { return x }),
		"interface": ordered(func(x *thing) any { return x }),
		"struct":    ordered(func(x *thing) struct{ a, b any } { return struct{ a, b any }{x.n, x} }),
		"array":     ordered(func(x *thing) [2]*thing { return [2]*thing{x, x} }),
		"large":     ordered(func(x *thing) [20]*thing { return [20]*thing{19: x} }),
		"address":   ordered(func(x *thing) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("fe80::%d%%z%d", x.n, x.n)) }),
		"sync.Map": func() string {
			var m sync.Map
			for _, x := range things() {
				m.Store(x, x.n)
			}
			var sb strings.Builder
			m.Range(func(_, n any) bool { fmt.Fprint(&sb, n, " "); return true })
			return sb.String()
		},
		"contexts": func() string {
			var d diary
			ctx, cancel := context.WithCancel(context.Background())
			for i := range 20 {
				mine, stop := context.WithCancel(ctx)
				defer stop()
				context.AfterFunc(mine, func() { d.log("%d ", i) })
			}
			cancel()
			synctest.Wait()
			return d.sb.String()
		},
	} {
		t.Run(name, func(t *testing.T) { alike(t, run) })
	}
}

// What a range over a map must and must not visit holds for the order of keys, too.
func TestRangeWhileChanging(t *testing.T) {
	needHermetic(t)
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 1))
			m, left := map[*thing]int{}, map[*thing]bool{}
			all := make([]*thing, 4000)
			for i := range all {
				all[i] = &thing{i}
			}
			n := 9 + r.IntN(1500)
			for _, x := range all[:n] {
				m[x], left[x] = x.n, true
			}
			for x, v := range m {
				if v != x.n || m[x] != x.n {
					t.Fatalf("seed %d: %d has the element %d", seed, x.n, v)
				}
				if x.n < n && !left[x] {
					t.Fatalf("seed %d: %d was deleted, or came twice", seed, x.n)
				}
				delete(left, x)
				for range r.IntN(4) {
					gone := all[r.IntN(n)]
					delete(m, gone)
					delete(left, gone)
				}
				for range r.IntN(3) {
					x := all[n+r.IntN(len(all)-n)]
					m[x] = x.n
				}
				if r.IntN(3000) == 0 {
					clear(m)
					clear(left)
				}
			}
			if len(left) > 0 {
				t.Fatalf("seed %d: %d of %d were not visited", seed, len(left), n)
			}
			count := 0
			for range m {
				count++
			}
			if count != len(m) {
				t.Fatalf("seed %d: visited %d of %d", seed, count, len(m))
			}
		}
	})
}

// A loop that adds a key for each it visits ends.
func TestRangeWhileGrowing(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		m := map[*thing]bool{}
		for range 20 {
			m[new(thing)] = true
		}
		for range m {
			m[new(thing)] = true
		}
	})
}
