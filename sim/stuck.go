package sim

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Stuck says that nothing moved for a while on the wall clock. Virtual time
// cannot pass and no message can go while a goroutine of the bubble is neither
// parked in a way synctest knows nor making progress.
type Stuck struct {
	After  time.Duration
	Cause  string // the likely one
	Stacks string // of the goroutines concerned
}

func (s *Stuck) Error() string {
	return fmt.Sprintf("sim: no progress for %v: %s", s.After, s.Cause)
}

// diagnose reads the stacks of the goroutines in bubbles and names what holds
// them. The order matters: a goroutine that waits for a mutex is usually the
// victim of one that sleeps at the gate holding it.
func diagnose(after time.Duration) *Stuck {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var mine []string
	var mutex, gate, busy, outside bool
	for _, g := range strings.Split(string(buf), "\n\n") {
		head, _, _ := strings.Cut(g, "\n")
		if !strings.Contains(head, "synctest bubble") {
			continue
		}
		mine = append(mine, g)
		mutex = mutex || strings.Contains(head, "Mutex.Lock") || strings.Contains(head, "RLock")
		gate = gate || strings.Contains(g, "sim.(*Gate).Pass")
		busy = busy || strings.Contains(head, "[running") || strings.Contains(head, "[runnable")
		outside = outside || (!strings.Contains(head, "durable") &&
			(strings.Contains(head, "[chan ") || strings.Contains(head, "[select") || strings.Contains(head, "[IO wait")))
	}
	s := &Stuck{After: after, Stacks: strings.Join(mine, "\n\n")}
	switch {
	case mutex && gate:
		s.Cause = "a goroutine waits for a mutex that another one holds while its message is parked at the gate"
	case mutex:
		s.Cause = "a goroutine waits for a mutex that is never unlocked"
	case busy:
		s.Cause = "a goroutine of the bubble spins or computes without end"
	case outside:
		s.Cause = "a goroutine of the bubble waits for a channel or a connection from outside the bubble"
	default:
		s.Cause = "unknown; see the stacks"
	}
	return s
}
