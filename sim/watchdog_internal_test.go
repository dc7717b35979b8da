package sim

import (
	"testing"
	"time"
)

// process is a process with simulated meters: its share of a processor, and the collector's share
// of that.
type process struct {
	now       reading
	gets      float64 // of one processor
	collector float64 // share of gets
	wanting   int
}

func (p *process) meters() meters {
	return meters{func() reading { return p.now }, func() int { return p.wanting }}
}

// advance lets time pass, one tick after the other, and returns the processor time of the run
// until the watchdog fired; report is how often the runtime reports the collector's time.
func (p *process) advance(d *watchdog, long, report time.Duration) (run time.Duration, bit bool) {
	var running, collecting float64
	for at := time.Duration(0); at < long; at += d.period {
		got := p.gets * d.period.Seconds()
		p.now.at = p.now.at.Add(d.period)
		p.now.used += time.Duration(got * float64(time.Second))
		running, collecting = running+got*(1-p.collector), collecting+got*p.collector
		if at%report == 0 {
			p.now.running, p.now.collecting = running, collecting
		}
		if d.tick(0) {
			return time.Duration(running * float64(time.Second)), true
		}
	}
	return time.Duration(running * float64(time.Second)), false
}

// A run that got a tenth of a processor for minutes, and of that the collector
// nine tenths, has not spun: it hardly ran.
func TestStarvedBesideTheCollector(t *testing.T) {
	p := &process{gets: 0.4, collector: 0.85, wanting: 1}
	if run, bit := p.advance(watch(30*time.Second, p.meters()), 2*time.Minute, 5*time.Second); bit {
		t.Errorf("given up after %v of its own processor time, want 30s", run)
	}
}

// A goroutine that spins is found after its limit, whatever else runs and however little processor
// time it gets. One that also produces garbage is found after a bounded multiple.
func TestSpinnerIsFound(t *testing.T) {
	const limit = 30 * time.Second
	for _, tt := range []struct {
		name string
		p    process
		most time.Duration
	}{
		{"alone", process{gets: 1, wanting: 1}, limit},
		{"starved", process{gets: 0.1, wanting: 1}, limit},
		{"with a collector", process{gets: 1, collector: 0.3, wanting: 1}, limit + 10*time.Second},
		{"with a collector that takes nearly all", process{gets: 1, collector: 0.99, wanting: 1}, limit},
	} {
		run, bit := tt.p.advance(watch(limit, tt.p.meters()), collectedMost*10*limit, 5*time.Second)
		if !bit || run > tt.most+time.Second {
			t.Errorf("%s: found %v after %v, want it within %v", tt.name, bit, run, tt.most)
		}
	}
}

// What waits for something outside of an idle process is found by the clock.
func TestIdleIsFound(t *testing.T) {
	p := &process{gets: 0}
	d := watch(30*time.Second, p.meters())
	if _, bit := p.advance(d, 29*time.Second, time.Second); bit {
		t.Error("given up too early")
	}
	if _, bit := p.advance(d, 2*time.Second, time.Second); !bit {
		t.Error("never given up")
	}
}

// Progress is worth a whole limit.
func TestProgressIsKnown(t *testing.T) {
	p := &process{gets: 1, wanting: 1}
	d := watch(10*time.Second, p.meters())
	for beat := range uint64(5) {
		d.tick(beat)
		if _, bit := p.again(d, beat, 9*time.Second); bit {
			t.Fatalf("given up %d beats on", beat)
		}
	}
}

// again is advance with a number of beats.
func (p *process) again(d *watchdog, beat uint64, long time.Duration) (time.Duration, bool) {
	for at := time.Duration(0); at < long; at += d.period {
		p.now.at, p.now.used = p.now.at.Add(d.period), p.now.used+d.period
		if d.tick(beat) {
			return at, true
		}
	}
	return long, false
}
