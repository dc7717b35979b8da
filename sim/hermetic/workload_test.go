package hermetic_test

import (
	crand "crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ipamsim/sim/hermetic"
)

// outside runs jobs on goroutines that are in no bubble, as the bridge to etcd
// does.
type outside struct {
	jobs    chan func()
	replies chan chan int
}

func newOutside(t testing.TB) *outside {
	o := &outside{jobs: make(chan func()), replies: make(chan chan int, 64)}
	for range cap(o.replies) {
		o.replies <- make(chan int, 1)
	}
	for range 4 {
		go func() {
			for f := range o.jobs {
				f()
			}
		}()
	}
	t.Cleanup(func() { close(o.jobs) })
	return o
}

// call makes one bridged call that takes real time.
func (o *outside) call() int {
	hermetic.Pin(true)
	defer hermetic.Pin(false)
	var answer atomic.Int64
	done := <-o.replies
	o.jobs <- func() {
		time.Sleep(20 * time.Microsecond)
		answer.Store(7)
		done <- 1
	}
	<-done
	o.replies <- done
	return int(answer.Load())
}

// diary is the order in which goroutines did things.
type diary struct {
	mu sync.Mutex
	sb strings.Builder
}

func (d *diary) log(format string, a ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(&d.sb, format, a...)
}

// inBubble runs f in a bubble with the given seed, and returns the number of
// foreign wake-ups in it.
func inBubble(t *testing.T, seed uint64, f func()) (foreign uint64) {
	hermetic.SetSeed(seed)
	synctest.Test(t, func(*testing.T) {
		f()
		foreign = hermetic.Foreign()
	})
	return foreign
}

// mixed is a workload of everything that the overlay makes deterministic: eight goroutines with
// random actions for thirty rounds. It returns a digest of the order of the actions.
func mixed(t *testing.T, seed uint64, o *outside) (digest string, foreign uint64) {
	var d diary
	foreign = inBubble(t, seed, func() {
		m := map[int]int{}
		for i := range 40 {
			m[i] = i
		}
		c := make(chan int)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for range 30 {
					mixedStep(&d, g, m, c, o)
				}
			})
		}
		wg.Wait()
		d.log("%d %d", runtime.NumCPU(), runtime.GOMAXPROCS(0))
	})
	return fmt.Sprintf("%x", sha256.Sum256([]byte(d.sb.String())))[:16], foreign
}

func mixedStep(d *diary, g int, m map[int]int, c chan int, o *outside) {
	switch rand.Intn(8) {
	case 0:
		time.Sleep(time.Duration(rand.Intn(3)) * time.Millisecond)
	case 1:
		for k := range m {
			d.log("%d.%d ", g, k)
			break
		}
	case 2:
		select {
		case c <- g:
		case x := <-c:
			d.log("%d<%d ", g, x)
		case <-time.After(time.Millisecond):
		}
	case 3:
		runtime.Gosched()
	case 4:
		d.log("%d!%d ", g, o.call())
	case 5:
		d.log("%d#%d ", g, burn())
	case 6:
		d.log("%d?%s ", g, crand.Text())
	case 7:
		done := make(chan bool)
		time.AfterFunc(time.Millisecond, func() { d.log("%d@ ", g); close(done) })
		<-done
	}
}

// burn keeps the runtime busy with actions of its own timing: preemption, GC assists, clearing of
// large memory, file I/O, sometimes a whole collection.
func burn() int {
	x := 0
	for i := range 200_000 {
		x += i
	}
	b := make([]byte, 1<<20)
	// Not os.Open: package testing logs it under a mutex of the whole process.
	if fd, err := syscall.Open("/dev/zero", syscall.O_RDONLY, 0); err == nil {
		syscall.Read(fd, b[:1<<16])
		syscall.Close(fd)
	}
	if rand.Intn(20) == 0 {
		runtime.GC()
	}
	return x + len(b)
}
