package hermetic_test

//lint:file-ignore SA5000,SA5007 panics and overflows are meant

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

// death is what a process died of.
type death struct {
	value any
	stack string
	after []string // what its deferred functions had written by then
}

// dying runs main as a separate process in a bubble and returns its crashes.
func dying(t *testing.T, main func(note func(string))) (deaths []death) {
	t.Helper()
	var notes []string
	synctest.Test(t, func(t *testing.T) {
		p := &hermetic.Process{}
		p.Crash = func(v any) {
			p.Dead, p.Crashed = true, true
			deaths = append(deaths, death{v, string(debug.Stack()), notes})
		}
		go func() {
			hermetic.SetProcess(p)
			main(func(s string) { notes = append(notes, s) })
		}()
		time.Sleep(time.Hour)
	})
	return deaths
}

type node struct{ next *node }

//go:noinline
func (n *node) walk() *node { return n.next }

// failures are the ways in which a goroutine can end a process, each with the text
// of the value and a function that the stack must name.
var failures = map[string]struct {
	f          func()
	value, in  string
	hasRuntime bool // the value is a runtime.Error
}{
	"panic":           {f: func() { panic("gone") }, value: "gone"},
	"error":           {f: func() { panic(errors.ErrUnsupported) }, value: "unsupported operation"},
	"nil":             {f: func() { panic(nil) }, value: "panic called with nil argument", hasRuntime: true},
	"nil dereference": {f: func() { (*node)(nil).walk() }, value: "nil pointer dereference", in: "(*node).walk", hasRuntime: true},
	"nil map":         {f: func() { map[string]int(nil)["a"]++ }, value: "assignment to entry in nil map", hasRuntime: true},
	"index":           {f: func() { _ = make([]int, 1)[len(os.Args)+1] }, value: "index out of range", hasRuntime: true},
	"closed channel":  {f: func() { c := make(chan int); close(c); close(c) }, value: "close of closed channel", hasRuntime: true},
	"in a deferred function": {f: func() {
		defer panic("the second")
		panic("the first")
	}, value: "the second"},
	"raised again": {f: func() {
		defer func() { panic(recover()) }()
		(*node)(nil).walk()
	}, value: "nil pointer dereference", in: "(*node).walk", hasRuntime: true},
	"while it exits": {f: func() {
		defer panic("too late")
		runtime.Goexit()
	}, value: "too late"},
	"after another was recovered": {f: func() {
		func() {
			defer func() { _ = recover() }()
			panic("mended")
		}()
		panic("not mended")
	}, value: "not mended"},
}

// A panic ends only the process of its goroutine, after the deferred functions of the goroutine.
func TestPanicEndsProcess(t *testing.T) {
	needHermetic(t)
	starts := map[string]func(func()){
		"own goroutine":     func(f func()) { f() },
		"started goroutine": func(f func()) { go f(); select {} },
		"grandchild":        func(f func()) { go func() { go f() }(); select {} },
		"timer":             func(f func()) { time.AfterFunc(time.Minute, f); select {} },
	}
	for name, fail := range failures {
		for how, start := range starts {
			t.Run(name+"/"+how, func(t *testing.T) {
				deaths := dying(t, func(note func(string)) {
					start(func() {
						defer note("outer")
						defer note("inner")
						fail.f()
					})
				})
				if len(deaths) != 1 {
					t.Fatalf("died %d times, want once: %v", len(deaths), deaths)
				}
				d := deaths[0]
				if _, ok := d.value.(runtime.Error); ok != fail.hasRuntime || !strings.Contains(fmt.Sprint(d.value), fail.value) {
					t.Errorf("died of %T %v, want %s", d.value, d.value, fail.value)
				}
				if got := fmt.Sprint(d.after); got != "[inner outer]" {
					t.Errorf("deferred functions that ran before: %s", got)
				}
				if !strings.Contains(d.stack, "panic_test.go") || !strings.Contains(d.stack, fail.in) {
					t.Errorf("the stack does not name %s in panic_test.go:\n%s", fail.in, d.stack)
				}
			})
		}
	}
}

// Not a crash: a recovered panic, and a goroutine that exits.
func TestNoPanic(t *testing.T) {
	needHermetic(t)
	deaths := dying(t, func(func(string)) {
		go func() {
			defer func() { _ = recover() }()
			(*node)(nil).walk()
		}()
		go runtime.Goexit()
		func() {
			defer func() { _ = recover() }()
			defer panic("the second")
			panic("the first")
		}()
		defer func() { _ = recover() }()
		defer panic("instead of exiting")
		runtime.Goexit()
	})
	if len(deaths) > 0 {
		t.Errorf("died of %v\n%s", deaths[0].value, deaths[0].stack)
	}
}

// waits are the ways in which a goroutine can be left over.
func waits() []func() {
	c, other, full := make(chan int), make(chan int), make(chan int, 1)
	full <- 1
	var wg sync.WaitGroup
	wg.Add(1)
	var mu, held sync.Mutex
	held.Lock()
	var read sync.RWMutex
	read.Lock()
	cond := sync.NewCond(&mu)
	var none chan int
	return []func(){
		func() { <-c },
		func() { other <- 1 },
		func() { full <- 2 },
		func() {
			select {
			case <-c:
			case full <- 3:
			}
		},
		func() {
			select {
			case <-time.After(1e6 * time.Hour):
			case <-none:
			}
		},
		func() { select {} },
		func() { <-none },
		func() { wg.Wait() },
		func() { mu.Lock(); cond.Wait() },
		func() { held.Lock() },
		func() { read.Lock() },
		func() { read.RLock() },
		func() { time.Sleep(1e6 * time.Hour) },
		func() { <-time.NewTicker(1e6 * time.Hour).C },
	}
}

// The goroutines of a dead process do not keep its bubble, run no more, and leave nothing in the
// queues that all bubbles share.
func TestLeftOver(t *testing.T) {
	needHermetic(t)
	before := runtime.NumGoroutine()
	woken, times := 0, 200
	if !longtest.On() {
		times = 40
	}
	for range times {
		deaths := dying(t, func(note func(string)) {
			all := waits()
			for _, wait := range append(all, all...) {
				go func() {
					defer func() { woken++ }()
					wait()
					woken++
				}()
			}
			synctest.Wait()
			go panic("gone")
			select {}
		})
		if len(deaths) != 1 {
			t.Fatalf("%d deaths, want 1", len(deaths))
		}
		runtime.GC() // would meet a queue that points to a stack that is gone
	}
	if woken > 0 {
		t.Errorf("%d left-over goroutines went on", woken)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// asCase names what TestFatalChild does in another process.
const asCase = "IPAMSIM_HERMETIC_FATAL"

// fatal is what still ends the operating system's process.
var fatal = map[string]struct {
	f    func()
	says string
}{
	"no process": {func() { go panic("nobody's") }, "panic: nobody's"},
	"no hook":    {func() { hermetic.SetProcess(&hermetic.Process{}); go panic("unheard") }, "panic: unheard"},
	"the hook's": {func() {
		hermetic.SetProcess(&hermetic.Process{Crash: func(any) { panic("of the hook") }})
		go panic("first")
	}, "panic: of the hook"},
	"not a panic":  {func() { heard(); go overflow(1) }, "stack overflow"},
	"unlock twice": {func() { heard(); go new(sync.Mutex).Unlock() }, "fatal error: sync: unlock of unlocked mutex"},
	"left over": {func() {
		hermetic.SetProcess(&hermetic.Process{Crash: func(any) {}})
		go panic("and nobody says that the process is dead")
		go func() { select {} }()
	}, "deadlock: main bubble goroutine has exited but blocked goroutines remain"},
}

func heard() {
	hermetic.SetProcess(&hermetic.Process{Crash: func(v any) { fmt.Println("HEARD", v) }})
}

func overflow(n int) int { return overflow(n+1) + 1 }

// TestFatalChild is what TestStillFatal runs in other processes.
func TestFatalChild(t *testing.T) {
	c, ok := fatal[os.Getenv(asCase)]
	if !ok {
		t.Skip("only as a child of TestStillFatal")
	}
	debug.SetMaxStack(1 << 20)
	synctest.Test(t, func(t *testing.T) {
		done := make(chan bool)
		go func() { c.f(); time.Sleep(time.Second); close(done) }()
		<-done
	})
	fmt.Println("SURVIVED")
}

func TestStillFatal(t *testing.T) {
	needHermetic(t)
	for name, c := range fatal {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestFatalChild$")
			cmd.Env = append(os.Environ(), asCase+"="+name)
			b, err := cmd.CombinedOutput()
			out := string(b)
			if err == nil || strings.Contains(out, "SURVIVED") || strings.Contains(out, "HEARD") || !strings.Contains(out, c.says) {
				t.Errorf("%v, want %q:\n%s", err, c.says, out)
			}
		})
	}
}
