package sim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// hogs keeps n goroutines of this process spinning until the test ends.
func hogs(t *testing.T, n int) {
	var stop atomic.Bool
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for !stop.Load() {
			}
		})
	}
	t.Cleanup(func() { stop.Store(true); all.Wait() })
}

// compute is work for about d of processor time: iterations are counted, since what
// it is asked to do must not depend on how much of the processor it gets.
func compute(d time.Duration) {
	for range int(d.Seconds() * perSecond()) {
		step()
	}
}

var sum atomic.Uint64

func step() {
	for range 1000 {
		sum.Add(1)
	}
}

var perSecond = sync.OnceValue(func() float64 {
	const n = 2000
	least := time.Hour
	for range 5 {
		began := time.Now()
		for range n {
			step()
		}
		least = min(least, time.Since(began))
	}
	return n / least.Seconds()
})

// watched runs f as a process under a watchdog of the given limit.
func watched(limit time.Duration, f func()) error {
	o := sim.Options{Strategy: strategy.NewSerial(), Limits: sim.Limits{Stuck: limit}}
	_, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		start(w, proc("a", func(context.Context, *sim.Gate) error { f(); return nil }))
		return nil
	})
	return err
}

// A run that gets a twentieth of the processor is slow, not stuck.
func TestStarvedIsNotStuck(t *testing.T) {
	const limit = 400 * time.Millisecond
	perSecond() // measured alone
	hogs(t, 20*runtime.GOMAXPROCS(0))
	began := time.Now()
	if err := watched(limit, func() { compute(limit / 4) }); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < limit {
		t.Errorf("took %v only: it was not starved, nothing is tested", took)
	}
}

// A goroutine that spins is found while other processes use all processors.
func TestStarvedAndStuck(t *testing.T) {
	hogs(t, 4*runtime.GOMAXPROCS(0))
	var over atomic.Bool
	defer over.Store(true)
	var stuck *sim.Stuck
	if err := watched(100*time.Millisecond, func() {
		for !over.Load() {
		}
	}); !errors.As(err, &stuck) {
		t.Errorf("got %v, want a Stuck", err)
	}
}

const asStopped = "IPAMSIM_SIM_STOPPED"

// TestStopped is the body of TestStoppedIsNotStuck in another process. It waits for something
// outside, for less than the limit except for the time during which it is stopped.
func TestStopped(t *testing.T) {
	if os.Getenv(asStopped) == "" {
		t.Skip("only as a child of TestStoppedIsNotStuck")
	}
	out := sim.NewOutside(1)
	defer out.Close()
	if err := watched(500*time.Millisecond, func() {
		out.Do(func() {
			fmt.Println("waiting")
			for range 10 { // a clock that stands still while the process does
				time.Sleep(20 * time.Millisecond)
			}
		})
	}); err != nil {
		t.Error(err)
	}
}

// A process that was stopped, or whose machine slept, is not stuck.
func TestStoppedIsNotStuck(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestStopped$")
	cmd.Env = append(os.Environ(), asStopped+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // the child reports that it waits
		t.Fatal(err)
	}
	for range 5 {
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the stopped process: %v", err)
	}
}

// Storing a large cluster takes long before there is any message: each object is
// progress.
func TestLongSetupIsNotStuck(t *testing.T) {
	const limit = 300 * time.Millisecond
	perSecond()
	o := sim.Options{Strategy: strategy.NewSerial(), Limits: sim.Limits{Stuck: limit}}
	if _, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		for began := wall(); wall()-began < 3*limit; {
			compute(limit / 10)
			w.Progress()
		}
		start(w, proc("a", func(context.Context, *sim.Gate) error { return nil }))
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// wall is the time outside of the bubble.
func wall() time.Duration {
	var now syscall.Timeval
	if err := syscall.Gettimeofday(&now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}
