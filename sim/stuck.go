package sim

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Stuck is the error of a run without progress, although the run could have used a processor for
// After, or waited for that long in an idle process. Virtual time cannot pass and no message can go
// while a goroutine of the bubble is blocked in a way that synctest does not recognize.
type Stuck struct {
	After  time.Duration
	Cause  string // the likely one
	Stacks string // of the goroutines concerned
}

func (s *Stuck) Error() string {
	return fmt.Sprintf("sim: no progress for %v: %s", s.After, s.Cause)
}

// bubbleID is the number of the caller's bubble in the heads of stacks.
func bubbleID() (n int64) {
	var buf [128]byte // "goroutine 7 [running, synctest bubble 5]:" and more
	head, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "]:")
	_, id, _ := strings.Cut(head, bubbleMark)
	n, _ = strconv.ParseInt(id, 10, 64)
	return n
}

const bubbleMark = "synctest bubble "

// diagnose reads the stacks of the goroutines of a bubble and names what holds
// them. Other bubbles of the process, running or given up, do not count. The
// order of the causes matters: a goroutine that waits for a mutex is usually the
// victim of one that sleeps at the gate holding it.
func diagnose(after time.Duration, bubble int64) *Stuck {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var mine []string // what does not wait comes first
	var system []string
	var mutex, gate, outside bool
	busy := 0
	for _, g := range strings.Split(string(buf), "\n\n") {
		head, _, _ := strings.Cut(g, "\n")
		if !strings.Contains(head, bubbleMark+strconv.FormatInt(bubble, 10)+"]") {
			continue
		}
		if strings.Contains(head, "[running") || strings.Contains(head, "[runnable") {
			mine = slices.Insert(mine, busy, g)
			busy++
			continue
		}
		mine = append(mine, g)
		if strings.Contains(head, "[syscall") {
			system = append(system, g)
		}
		mutex = mutex || strings.Contains(head, "Mutex.Lock") || strings.Contains(head, "RLock")
		gate = gate || strings.Contains(g, "sim.(*Gate).Pass")
		outside = outside || (!strings.Contains(head, "durable") &&
			(strings.Contains(head, "[chan ") || strings.Contains(head, "[select") || strings.Contains(head, "[IO wait")))
	}
	s := &Stuck{After: after, Stacks: strings.Join(mine, "\n\n")}
	switch {
	case mutex && gate:
		s.Cause = "a goroutine waits for a mutex that another one holds while its message is parked at the gate"
	case mutex:
		s.Cause = "a goroutine waits for a mutex that is never unlocked"
	case len(system) > 0: // others may not even have begun
		s.Cause = "a goroutine of the bubble waits in a system call" + busiest(system)
	case busy > 0:
		s.Cause = "a goroutine of the bubble spins or computes without end" + busiest(mine[:busy])
	case outside:
		s.Cause = "a goroutine of the bubble waits for a channel or a connection from outside the bubble"
	default:
		s.Cause = "unknown; see the stacks"
	}
	return s
}

// busiest is where the first of some goroutines is that has begun to run.
func busiest(stacks []string) string {
	for _, s := range stacks {
		if at := where(s); at != "" {
			return at
		}
	}
	return ""
}

// where is the place of a goroutine, as ": FUNCTION (FILE:LINE), called by FUNCTION (FILE:LINE)":
// the innermost function outside the runtime, and its first caller in another package.
func where(stack string) string {
	var at []string
	pkg := "runtime"
	lines := strings.Split(stack, "\n")[1:]
	for i := 0; i+1 < len(lines) && len(at) < 2; i += 2 { // a function, and below it where
		name := path.Base(lines[i][:max(0, strings.LastIndex(lines[i], "("))])
		of, _, _ := strings.Cut(name, ".")
		if of == "runtime" || of == pkg {
			continue
		} else if strings.Contains(name, ".gowrap") {
			break // it has not begun
		}
		pkg = of
		file, _, _ := strings.Cut(path.Base(lines[i+1]), " ")
		at = append(at, name+" ("+file+")")
	}
	if len(at) == 0 {
		return ""
	}
	return ": " + strings.Join(at, ", called by ")
}
