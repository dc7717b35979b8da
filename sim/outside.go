package sim

import (
	"fmt"
	"runtime/debug"

	"ipamsim/sim/hermetic"
)

// Outside runs functions on goroutines that belong to no bubble. It is the bridge to servers that
// cannot run in one, such as etcd. Create it before the bubble.
//
// A goroutine that waits in Do is not durably blocked, so virtual time does not pass during the
// call. The goroutine is pinned, so nothing else in its bubble runs either, and the order inside
// the bubble does not depend on the duration of the call.
type Outside struct {
	jobs  chan job
	dones chan chan any // created outside: a channel created in a bubble belongs to the bubble
}

type job struct {
	f    func()
	done chan any
}

// NewOutside starts the workers. Close ends them.
func NewOutside(workers int) *Outside {
	o := &Outside{jobs: make(chan job), dones: make(chan chan any, 4*workers)}
	for range cap(o.dones) { // more than workers, so that a worker finds its next call waiting
		o.dones <- make(chan any, 1)
	}
	for range workers {
		go func() {
			for j := range o.jobs {
				j.run()
			}
		}()
	}
	return o
}

func (j job) run() {
	defer func() {
		if v := recover(); v != nil {
			j.done <- fmt.Errorf("%v\n%s", v, debug.Stack())
			return
		}
		j.done <- nil
	}()
	j.f()
}

// Do runs f outside and waits for it. Plain data may cross, a context or a
// channel of the bubble may not. A panic of f is raised again here. Any number
// of goroutines may call it; f may not.
func (o *Outside) Do(f func()) {
	hermetic.Pin(true)
	d := <-o.dones
	o.jobs <- job{f, d}
	v := <-d
	o.dones <- d
	hermetic.Pin(false)
	if v != nil {
		panic(v)
	}
}

// Close ends the workers. No call may be under way.
func (o *Outside) Close() { close(o.jobs) }
