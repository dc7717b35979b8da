package hermetic_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// A program is what the stress runs: some goroutines that share timers, channels,
// mutexes, maps with pointers for keys, pools and contexts, and do with them what the
// program's number says. All waiting ends by itself. Virtual time moves in whole
// milliseconds, so that much is due together.
type program struct {
	diary
	chans  []chan int
	mu     []sync.Mutex
	rw     sync.RWMutex
	cond   *sync.Cond
	keys   []*thing
	byPtr  map[*thing]int
	byAny  map[any]int
	shared sync.Map
	pool   sync.Pool
	root   context.Context
	timers []*time.Timer
	later  []*time.Timer // of AfterFunc
	litter *rand.Rand    // of the process, not of the program
}

// play runs a program in a bubble and returns a digest of the order of its actions.
func play(t *testing.T, number uint64, litter *rand.Rand) (digest string, foreign uint64) {
	p := &program{litter: litter}
	foreign = inBubble(t, number, func() { p.main(rand.New(rand.NewPCG(number, 15))) })
	return fmt.Sprintf("%x", sha256.Sum256([]byte(p.sb.String())))[:16], foreign
}

func (p *program) main(r *rand.Rand) {
	p.mu = make([]sync.Mutex, 3)
	p.cond = sync.NewCond(&sync.Mutex{})
	p.byPtr, p.byAny = map[*thing]int{}, map[any]int{}
	for i := range 4 {
		p.chans = append(p.chans, make(chan int, i%2))
	}
	for i := range 30 {
		p.scatter()
		p.keys = append(p.keys, &thing{i})
	}
	root, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.root = root
	for i := range 6 {
		p.scatter()
		p.timers = append(p.timers, time.NewTimer(moment(r)))
		p.later = append(p.later, time.AfterFunc(moment(r), func() { p.log("f%d ", i) }))
	}
	var wg sync.WaitGroup
	for g := range 3 + r.IntN(6) {
		wg.Go(func() { p.steps(fmt.Sprint(g), rand.New(rand.NewPCG(r.Uint64(), uint64(g))), 25) })
	}
	wg.Wait()
	for _, t := range append(p.timers, p.later...) {
		t.Stop()
	}
	p.log("end at %v", time.Since(start))
}

// scatter makes the following allocations have other addresses in each process.
func (p *program) scatter() {
	for range p.litter.IntN(4) {
		moved = append(moved, make([]byte, 8<<p.litter.IntN(6)))
	}
	if p.litter.IntN(500) == 0 {
		moved = nil
	}
}

func moment(r *rand.Rand) time.Duration { return time.Duration(r.IntN(6)) * time.Millisecond }

func (p *program) steps(name string, r *rand.Rand, n int) {
	for range n {
		p.scatter()
		do := actions[r.IntN(len(actions))]
		do(p, name, r)
	}
}

var actions []func(p *program, name string, r *rand.Rand)

func init() { // not where it is declared: a child's steps are actions, too
	actions = []func(*program, string, *rand.Rand){
		(*program).sleep, (*program).wait, (*program).wait, (*program).timer, (*program).ticker,
		(*program).afterFunc, (*program).lock, (*program).readLock, (*program).condition, (*program).pointers,
		(*program).anything, (*program).syncMap, (*program).pooled, (*program).contexts, (*program).children,
	}
}
