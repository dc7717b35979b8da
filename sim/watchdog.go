package sim

import (
	"runtime/metrics"
	"syscall"
	"time"
)

// watchdog measures for how long a run had the means to move and did not. The
// rule: a run without progress is charged, from one tick to the next, with what
// one goroutine of this process could have had of a processor. That is
//
//   - the processor time that the process used, divided by the number of its
//     goroutines that run or want to run, as long as there are any: other
//     bubbles, servers and the collector use it too, and a process that gets none,
//     because the machine is loaded, throttles or has stopped it, is charged with
//     none;
//   - the time on the clock while there is none: what waits in an idle process
//     waits for something that will not come. A tick that comes late counts for
//     as much less, because what the run waits for may be as late; one that comes
//     later than a whole period, after SIGSTOP or a suspended machine, for nothing.
//
// So a goroutine that spins is found after limit of its own processor time, a
// deadlock after limit on the clock.
type watchdog struct {
	limit, period time.Duration

	beat    uint64 // of the last progress
	charged time.Duration
	at      time.Time
	used    time.Duration
	want    [2]metrics.Sample
}

func newWatchdog(limit time.Duration) *watchdog {
	d := &watchdog{limit: limit, period: min(max(limit/30, periodMin), periodMax), at: time.Now(), used: processorTime()}
	d.want[0].Name, d.want[1].Name = "/sched/goroutines/running:goroutines", "/sched/goroutines/runnable:goroutines"
	return d
}

// The period bounds what one tick can get wrong; below periodMin the late ticks of
// a machine that is merely busy would count for nothing.
const (
	periodMin = 5 * time.Millisecond
	periodMax = 50 * time.Millisecond
)

// tick is called every period with a number that grows with the run's progress.
// It reports whether the limit is reached.
func (d *watchdog) tick(beat uint64) bool {
	now := time.Now()
	elapsed := now.Sub(d.at)
	d.at = now
	if beat != d.beat {
		d.beat, d.charged = beat, 0
		d.used = processorTime()
		return false
	}
	used := processorTime()
	d.charged += charge(d.period, elapsed, used-d.used, d.wanting())
	d.used = used
	return d.charged >= d.limit
}

// charge is the rule, for one tick.
func charge(period, elapsed, used time.Duration, wanting int) time.Duration {
	if wanting > 0 {
		return min(used, elapsed) / time.Duration(wanting)
	}
	late := max(elapsed-period, 0)
	return max(min(elapsed, period)-late, 0)
}

// wanting counts the goroutines that run or could, but for the caller. The runtime
// counts a thread that looks for work, too, for some microseconds after it woke the
// caller: the smallest of a few readings.
func (d *watchdog) wanting() int {
	least := 0
	for i := range readings {
		metrics.Read(d.want[:])
		n := max(int(d.want[0].Value.Uint64()+d.want[1].Value.Uint64())-1, 0)
		if i == 0 || n < least {
			least = n
		}
		if least == 0 {
			break
		}
		for began := time.Now(); time.Since(began) < 20*time.Microsecond; {
		}
	}
	return least
}

const readings = 5

// processorTime is what the process has used so far, in user and kernel mode.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // only for a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
