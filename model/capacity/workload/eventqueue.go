package workload

import (
	"cmp"
	"time"
)

// eventQueue contains future events, the earliest first; events of one instant in the order of
// acts, and of one act in the order of decision.
type eventQueue struct {
	heap []entry
	next uint32
}

type entry struct {
	at  time.Duration
	seq uint32
	act act
	who int32
}

// act is something that a script does.
type act uint8

// In the order in which they come at one instant.
const (
	actGrow act = iota
	actDrain
	actDrained
	actCrash
	actUp
	actReplace
	actReplaced
	actOff // a machine that was drained to be replaced
	actEvict
	actRemoved
	actEmpty // one more pod of a node that is drained
	actStop
	actStart
	actFill // one more pod of those that the cluster is meant to have
	actStep
	actRestart // one more pod
	actReturn  // of a pod that was restarted
	actMore    // the cluster is meant to have one pod more, or fewer
	actArrive
	actWork
	actPass
	actLook
)

func (e *entry) before(o *entry) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	return cmp.Or(cmp.Compare(e.act, o.act), cmp.Compare(e.seq, o.seq)) < 0
}

func (a *eventQueue) add(at time.Duration, what act, who int32) {
	a.next++
	a.heap = append(a.heap, entry{at, a.next, what, who})
	for i := len(a.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !a.heap[i].before(&a.heap[up]) {
			return
		}
		a.heap[i], a.heap[up] = a.heap[up], a.heap[i]
		i = up
	}
}

func (a *eventQueue) pop() (e entry, ok bool) {
	if len(a.heap) == 0 {
		return e, false
	}
	e = a.heap[0]
	n := len(a.heap) - 1
	a.heap[0], a.heap = a.heap[n], a.heap[:n]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if a.heap[child].before(&a.heap[least]) {
				least = child
			}
		}
		if least == i {
			return e, true
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
}
