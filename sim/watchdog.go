package sim

import (
	"runtime/metrics"
	"syscall"
	"time"
)

// watchdog measures how long a run has made no progress although it could have. From one tick to
// the next, a run without progress is charged with the processor time that one goroutine of this
// process could have had. That is:
//
//   - While goroutines run or want to run: the processor time that the process used, divided
//     by the number of these goroutines. Other bubbles, servers and the collector use
//     processor time too. A process that gets none, because the machine is loaded, throttles
//     or has stopped it, is charged with none.
//   - Otherwise: the wall-clock time. A goroutine that waits in an idle process waits for an
//     event that will not come. A late tick counts for less by its delay, because the awaited
//     event may be delayed too; a tick that is late by a whole period, after SIGSTOP or a
//     suspended machine, does not count.
//
// The collector's processor time is not charged: with a heap of gigabytes and a tenth of a
// processor it takes most of that, and a slow run would be charged for it. The runtime reports
// the collector's time after each collection, so that its share since the last progress can be
// subtracted; collectedMost bounds that share.
//
// So a goroutine that spins is found after limit of its own processor time, or after collectedMost
// times as much if it also produces garbage. A deadlock is found after limit on the wall clock.
type watchdog struct {
	limit, period time.Duration
	meters        meters

	beat           uint64 // of the last progress
	worked, waited time.Duration
	began, last    reading // at the last progress, at the last tick
}

// meters are the measurements that the rule uses.
type meters struct {
	read    func() reading
	wanting func() int // goroutines that run or want to, except the watchdog
}

// reading is the state of the meters at one time.
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

// collectedMost bounds the collector's share: at least 1/collectedMost of the processor time counts
// as the run's.
const collectedMost = 8

// The period bounds the error of one tick. Below periodMin the late ticks of a busy machine would
// not count.
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

// runtimeMeters are the meters of this process.
type runtimeMeters struct{ want, cpu [2]metrics.Sample }

func (m *runtimeMeters) read() reading {
	metrics.Read(m.cpu[:])
	return reading{time.Now(), processorTime(), m.cpu[0].Value.Float64(), m.cpu[1].Value.Float64()}
}

// wanting counts the goroutines that run or could run, except the caller. For some microseconds
// after it woke the caller, the runtime also counts a thread that looks for work, so the result is
// the smallest of a few readings.
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

// processorTime is the processor time that the process has used so far, in user and kernel mode.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // only for a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
