// Package turns makes the workers of all kubelets work one at a time.
package turns

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Class is the purpose of a turn. Waiters of one instant are served in the order of classes.
type Class int

const (
	Lost  Class = iota // DELs of sandboxes that were lost with a node's power
	Again              // retries, those that have waited longest first
	Other              // all others, by the age of their pods
)

// Queue holds the waiters for a turn. If Step is 0, all work at the same time.
type Queue struct {
	Step time.Duration

	mu    sync.Mutex
	waits []*turn
	busy  bool
	born  map[types.UID]int // the order in which pods were first seen
	tries int               // attempts so far
}

// turn is one waiter.
type turn struct {
	class   Class
	key     int // its place in its class
	granted chan struct{}
}

// gather is the time in which waiters of the same instant are collected before a turn is granted.
const gather = 100 * time.Microsecond

// before reports whether t is granted before o.
func (t *turn) before(o *turn) bool {
	return t.class < o.class || t.class == o.class && t.key < o.key
}

// Comes records the order of arrival of a pod.
func (q *Queue) Comes(uid types.UID) {
	if q.Step == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.born == nil {
		q.born = map[types.UID]int{}
	}
	if _, known := q.born[uid]; !known {
		q.born[uid] = len(q.born)
	}
}

// Tries increments the attempt counter and returns it.
func (q *Queue) Tries() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tries++
	return q.tries
}

// Wait waits for a turn of a pod; tried is the number of its last attempt. It calls queued
// when the request is in the queue. It reports false if ctx is done; then there is no turn.
func (q *Queue) Wait(ctx context.Context, class Class, uid types.UID, tried int, queued func()) bool {
	q.mu.Lock()
	mine := &turn{class: class, key: q.born[uid], granted: make(chan struct{}, 1)}
	if class == Again {
		mine.key = tried
	}
	q.waits = append(q.waits, mine)
	q.mu.Unlock()
	queued()
	gathered := time.NewTimer(gather)
	defer gathered.Stop()
	for {
		select {
		case <-mine.granted:
			return true
		case <-gathered.C:
			q.mu.Lock()
			q.next()
			q.mu.Unlock()
		case <-ctx.Done():
			q.mu.Lock()
			defer q.mu.Unlock()
			if i := slices.Index(q.waits, mine); i >= 0 {
				q.waits = slices.Delete(q.waits, i, i+1)
			} else { // granted in the same instant
				q.busy = false
				q.next()
			}
			return false
		}
	}
}

// next grants a turn if none is granted. Called with mu held.
func (q *Queue) next() {
	if q.busy || len(q.waits) == 0 {
		return
	}
	first := 0
	for i := range q.waits {
		if q.waits[i].before(q.waits[first]) {
			first = i
		}
	}
	q.busy = true
	q.waits[first].granted <- struct{}{}
	q.waits = slices.Delete(q.waits, first, first+1)
}

// Done ends a turn.
func (q *Queue) Done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	q.next()
}
