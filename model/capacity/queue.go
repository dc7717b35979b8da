package capacity

import "time"

// again is when a pod that was refused tries again.
type again struct {
	at    time.Duration
	pod   *Pod
	tries uint32 // pod.tries then; another number: it does not wait for this any more
}

// queue holds them in order of time, which is the order in which they come: all
// wait equally long.
type queue struct {
	list []again
	head int
}

func (q *queue) push(a again) {
	if q.head > 1024 && 2*q.head > len(q.list) {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, a)
}

// due takes the next one up to and including an instant.
func (q *queue) due(until time.Duration) (a again, ok bool) {
	if q.head == len(q.list) || q.list[q.head].at > until {
		return a, false
	}
	a = q.list[q.head]
	q.head++
	return a, true
}
