// Package turns has those who want to work do so one at a time.
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
	Again              // pods that try again, those that have waited longest first
	Other              // the others, by the age of their pods
)

// Queue holds the waiters for a turn. Without a Step all work at the same time.
type Queue struct {
	Step time.Duration

	mu    sync.Mutex
	waits []*turn
	busy  bool
	born  map[types.UID]int // in which order pods came
	tries int               // there have been
}

// turn is one piece of work that waits.
type turn struct {
	class   Class
	key     int // its place among those of its class
	granted chan struct{}
}

// gather is how long a waiter waits for others of the same instant.
const gather = 100 * time.Microsecond

// before is the order in which turns are granted.
func (t *turn) before(o *turn) bool {
	return t.class < o.class || t.class == o.class && t.key < o.key
}

// Comes notes a pod's age.
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

// Wait waits for a turn of a pod, whose last try was the tried-th. What the caller has to
// do once it is known to wait is queued. It reports false if ctx is over; then there is no
// turn.
func (q *Queue) Wait(ctx context.Context, class Class, uid types.UID, tried int, queued func()) bool {
	q.mu.Lock()
	mine := &turn{class: class, key: q.born[uid], granted: make(chan struct{}, 1)}
	if class == Again {
		mine.key = tried
	}
	q.waits = append(q.waits, mine)
	q.mu.Unlock()
	queued()
	look := time.NewTimer(gather)
	defer look.Stop()
	for {
		select {
		case <-mine.granted:
			return true
		case <-look.C:
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
