package hermetic_test

//lint:file-ignore SA6002 what a pool is given is not what is measured

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// Each action of a program ends by itself and records what it observed.

func (p *program) sleep(name string, r *rand.Rand) {
	if d := moment(r); d > 0 {
		time.Sleep(d)
	} else {
		runtime.Gosched()
	}
	p.log("%s ", name)
}

// wait selects on two shared timers, two channels, one of them perhaps twice, and a timer of its
// own, or polls them without waiting.
func (p *program) wait(name string, r *rand.Rand) {
	a, b := p.timers[r.IntN(len(p.timers))], p.timers[r.IntN(len(p.timers))]
	c, d := p.chans[r.IntN(len(p.chans))], p.chans[r.IntN(len(p.chans))]
	if r.IntN(4) == 0 {
		select {
		case <-a.C:
			p.log("%s:a ", name)
		case x := <-c:
			p.log("%s:c%d ", name, x)
		case d <- 1:
			p.log("%s:d ", name)
		default:
			p.log("%s:- ", name)
		}
		return
	}
	own := time.NewTimer(moment(r) + time.Millisecond)
	defer own.Stop()
	select {
	case <-a.C:
		p.log("%s:a ", name)
		a.Reset(moment(r))
	case <-b.C:
		p.log("%s:b ", name)
	case x := <-c:
		p.log("%s:c%d ", name, x)
	case x := <-d:
		p.log("%s:d%d ", name, x)
	case c <- r.IntN(9):
		p.log("%s:s ", name)
	case <-own.C:
		p.log("%s:t ", name)
	case <-p.root.Done():
	}
}

func (p *program) timer(name string, r *rand.Rand) {
	t := p.timers[r.IntN(len(p.timers))]
	if r.IntN(2) == 0 {
		p.log("%s!%t ", name, t.Stop())
		return
	}
	p.log("%s!%t ", name, t.Reset(moment(r)))
}

func (p *program) ticker(name string, r *rand.Rand) {
	t, late := time.NewTicker(moment(r)+time.Millisecond), time.After(8*time.Millisecond)
	defer t.Stop()
	for range 3 {
		select {
		case <-t.C:
			p.log("%s. ", name)
		case <-late:
			p.log("%s, ", name)
		}
		if r.IntN(3) == 0 {
			t.Reset(moment(r) + time.Millisecond)
		}
	}
}

func (p *program) afterFunc(name string, r *rand.Rand) {
	t := p.later[r.IntN(len(p.later))]
	if r.IntN(2) == 0 {
		p.log("%s#%t ", name, t.Stop())
	}
	if r.IntN(2) == 0 {
		p.log("%s#%t ", name, t.Reset(moment(r)))
	}
}

// lock holds a mutex while time passes.
func (p *program) lock(name string, r *rand.Rand) {
	m := &p.mu[r.IntN(len(p.mu))]
	if r.IntN(4) == 0 {
		if !m.TryLock() {
			p.log("%s~ ", name)
			return
		}
	} else {
		m.Lock()
	}
	p.log("%s[ ", name)
	time.Sleep(moment(r))
	p.log("%s] ", name)
	m.Unlock()
}

func (p *program) readLock(name string, r *rand.Rand) {
	var l sync.Locker = &p.rw
	if r.IntN(3) > 0 {
		l = p.rw.RLocker()
	}
	l.Lock()
	p.log("%s( ", name)
	time.Sleep(moment(r))
	p.log("%s) ", name)
	l.Unlock()
}

// condition waits until another goroutine or a timer signals.
func (p *program) condition(name string, r *rand.Rand) {
	p.cond.L.Lock()
	defer p.cond.L.Unlock()
	switch r.IntN(3) {
	case 0:
		p.cond.Signal()
	case 1:
		p.cond.Broadcast()
	case 2:
		time.AfterFunc(moment(r)+time.Millisecond, p.cond.Broadcast)
		p.cond.Wait()
		p.log("%s? ", name)
	}
}

func (p *program) pointers(name string, r *rand.Rand) {
	for range 8 {
		p.byPtr[p.keys[r.IntN(len(p.keys))]]++
	}
	delete(p.byPtr, p.keys[r.IntN(len(p.keys))])
	for k, n := range p.byPtr {
		p.log("%s{%d:%d} ", name, k.n, n)
		if r.IntN(5) == 0 {
			break
		}
		if r.IntN(4) == 0 {
			delete(p.byPtr, p.keys[r.IntN(len(p.keys))])
		}
	}
}

func (p *program) anything(name string, r *rand.Rand) {
	for range 8 {
		k := p.keys[r.IntN(len(p.keys))]
		p.byAny[k]++
		p.byAny[k.n]++
		p.byAny[[2]any{k, k.n}]++
	}
	seen := 0
	for k, n := range p.byAny {
		switch k := k.(type) {
		case *thing:
			seen = seen*31 + k.n
		case [2]any:
			seen = seen*37 + k[1].(int)
		case int:
			seen = seen*41 + k
		}
		seen += n
	}
	p.log("%s{%d} ", name, seen)
}

func (p *program) syncMap(name string, r *rand.Rand) {
	for range 4 {
		k := p.keys[r.IntN(len(p.keys))]
		p.shared.LoadOrStore(k, k.n)
		p.shared.Store(k.n, k.n)
	}
	p.shared.Delete(p.keys[r.IntN(len(p.keys))])
	p.shared.Range(func(_, v any) bool { p.log("%s<%d> ", name, v); return true })
}

func (p *program) pooled(name string, r *rand.Rand) {
	p.log("%s^%v ", name, p.pool.Get())
	time.Sleep(moment(r))
	p.pool.Put(r.IntN(100))
}

// contexts cancels a tree of them, by a deadline or by hand.
func (p *program) contexts(name string, r *rand.Rand) {
	ctx, cancel := context.WithTimeout(p.root, moment(r)+time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for i := range 3 + r.IntN(12) {
		child, stop := context.WithCancel(ctx)
		defer stop()
		if r.IntN(2) == 0 {
			context.AfterFunc(child, func() { p.log("%s/%d ", name, i) })
			continue
		}
		all.Go(func() { <-child.Done(); p.log("%s|%d ", name, i) })
	}
	if r.IntN(2) == 0 {
		time.Sleep(moment(r))
		cancel()
	}
	all.Wait()
}

func (p *program) children(name string, r *rand.Rand) {
	if len(name) > 3 {
		return
	}
	var wg sync.WaitGroup
	for i := range 1 + r.IntN(3) {
		mine := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		wg.Go(func() { p.steps(fmt.Sprint(name, i), mine, 4) })
	}
	wg.Wait()
}
