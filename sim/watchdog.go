package sim

import (
	"runtime/metrics"
	"syscall"
	"time"
)

// watchdog measures for how long a run could have made progress and did not. The
// rule: a run without progress is charged, from one tick to the next, with the
// processor time that one goroutine of this process could have had. That is
//
//   - the processor time that the process used, divided by the number of its
//     goroutines that run or want to run, as long as there are any: other
//     bubbles, servers and the collector use it too, and a process that gets none,
//     because the machine is loaded, throttles or has stopped it, is charged with
//     none;
//   - the time on the clock while there is none: a goroutine that waits in an idle
//     process waits for something that will not come. A late tick counts for as
//     much less, because what the run waits for may be as late; a tick that is late
//     by a whole period, after SIGSTOP or a suspended machine, counts for nothing.
//
// The collector's processor time is not charged: with a heap of gigabytes and a
// tenth of a processor it takes most of that, and a run that moves on slowly would
// pay for it. The runtime reports after each collection what it took, so that the
// share since the last progress is left out; collectedMost bounds that share.
//
// So a goroutine that spins is found after limit of its own processor time, or
// after collectedMost times as much if it also makes garbage; a deadlock is found
// after limit on the clock.
type watchdog struct {
	limit, period time.Duration
	meters        meters

	beat           uint64 // of the last progress
	worked, waited time.Duration
	began, last    reading // at the last progress, at the last tick
}

// meters are what the rule looks at.
type meters struct {
	read    func() reading
	wanting func() int // goroutines that run or want to, but for the watchdog
}

// reading is what the meters show at one time.
type reading struct {
	at         time.Time
	used       time.Duration // processor time of the process
	running    float64       // seconds of it in goroutines, by the runtime's own estimate
	collecting float64       // and in the collector
}

func newWatchdog(limit time.Duration) *watchdog {
	m := &runtimeMeters{}
	for i, name := range []string{"/sched/goroutines/running:goroutines", "/sched/goroutines/runnable:goroutines"} {
		m.want[i].Name = name
	}
	for i, name := range []string{"/cpu/classes/user:cpu-seconds", "/cpu/classes/gc/total:cpu-seconds"} {
		m.cpu[i].Name = name
	}
	return watch(limit, meters{m.read, m.wanting})
}

func watch(limit time.Duration, m meters) *watchdog {
	d := &watchdog{limit: limit, period: min(max(limit/30, periodMin), periodMax), meters: m}
	d.began = m.read()
	d.last = d.began
	return d
}

// collectedMost is how much of the processor time, as one of so many, the collector
// is believed to have left to the run at least.
const collectedMost = 8

// The period bounds what one tick can get wrong; below periodMin the late ticks of
// a machine that is merely busy would count for nothing.
const (
	periodMin = 5 * time.Millisecond
	periodMax = 50 * time.Millisecond
)

// tick is called every period with a number that grows with the run's progress.
// It reports whether the limit is reached.
func (d *watchdog) tick(beat uint64) bool {
	now := d.meters.read()
	if beat != d.beat {
		d.beat, d.worked, d.waited, d.began, d.last = beat, 0, 0, now, now
		return false
	}
	wanting := d.meters.wanting()
	if c := charge(d.period, now.at.Sub(d.last.at), now.used-d.last.used, wanting); wanting > 0 {
		d.worked += c
	} else {
		d.waited += c
	}
	d.last = now
	return time.Duration(float64(d.worked)*ofTheRun(d.began, now))+d.waited >= d.limit
}

// ofTheRun is the share of the processor time that the collector did not take, as far as the
// runtime has reported.
func ofTheRun(from, to reading) float64 {
	running, collecting := to.running-from.running, to.collecting-from.collecting
	if running+collecting <= 0 {
		return 1
	}
	return max(running/(running+collecting), 1.0/collectedMost)
}

// charge is the rule, for one tick.
func charge(period, elapsed, used time.Duration, wanting int) time.Duration {
	if wanting > 0 {
		return min(used, elapsed) / time.Duration(wanting)
	}
	late := max(elapsed-period, 0)
	return max(min(elapsed, period)-late, 0)
}

// runtimeMeters are those of this process.
type runtimeMeters struct{ want, cpu [2]metrics.Sample }

func (m *runtimeMeters) read() reading {
	metrics.Read(m.cpu[:])
	return reading{time.Now(), processorTime(), m.cpu[0].Value.Float64(), m.cpu[1].Value.Float64()}
}

// wanting counts the goroutines that run or could, but for the caller. The runtime
// counts a thread that looks for work, too, for some microseconds after it woke the
// caller: the smallest of a few readings.
func (m *runtimeMeters) wanting() int {
	least := 0
	for i := range readings {
		metrics.Read(m.want[:])
		n := max(int(m.want[0].Value.Uint64()+m.want[1].Value.Uint64())-1, 0)
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
