package strategy

import (
	"fmt"

	"ipamsim/sim"
)

// Deviations is a schedule in bytes, which Go's fuzzer can mutate: the default order of Sparse with
// deviations. The bytes are pairs (gap, pick): after gap more decisions in the default order, the
// choice is the one pick places after the default's, modulo the number of choices.
//
// Pick 0 is the default's own, so (255, 0) means 256 decisions by default; pick 255 is followed by
// two bytes, big-endian, that are added to it. So every run can be written in this form, and any
// bytes are a schedule: after their end the default continues, and an incomplete pair has no
// effect.
//
// Gaps are linear. A scale with denser small gaps (2^(b/32) - 1) found a duplicate-address in fewer
// executions (median 38 against 103, 20 hunts each), but the first failure of any kind from the
// simplest world of FuzzWhereabouts in 2 hunts of 10 against 8 of 11.
//
// Exceptions name messages and survive changes of the world; deviations count decisions, are short
// and have no invalid form. Recorder converts between them.
type Deviations struct {
	rest   []byte
	gap    int // decisions by default before the next deviation; -1: not read yet
	pick   int
	policy policy
	length int
}

// NewDeviations makes the strategy of one run. It keeps the bytes.
func NewDeviations(schedule []byte) *Deviations {
	return &Deviations{rest: schedule, gap: -1, length: len(schedule)}
}

func (d *Deviations) String() string { return fmt.Sprintf("deviations(%d bytes)", d.length) }

// Begin allows one run.
func (d *Deviations) Begin(n uint64) bool { return n == 0 }

// Pick is the default's choice, or the deviation that is due.
func (d *Deviations) Pick(_ int, enabled []sim.Choice) int {
	i := d.policy.byDefault(enabled)
	if d.gap < 0 {
		d.read()
	}
	if d.gap == 0 {
		i = (i + d.pick) % len(enabled)
	}
	d.gap--
	d.policy.took(enabled, i)
	return i
}

// bigPick is the pick that two more bytes are added to; it marks them.
const bigPick = 255

// read takes the next pair.
func (d *Deviations) read() {
	if len(d.rest) < 2 {
		d.gap, d.pick, d.rest = 0, 0, nil
		return
	}
	d.gap, d.pick, d.rest = int(d.rest[0]), int(d.rest[1]), d.rest[2:]
	if d.pick == bigPick && len(d.rest) >= 2 {
		d.pick, d.rest = bigPick+int(d.rest[0])<<8+int(d.rest[1]), d.rest[2:]
	}
}

// Deviated lets another strategy decide and writes down the bytes with which
// Deviations makes the same run: the same picks, and so the same digest.
type Deviated struct {
	inner  sim.Strategy
	bytes  []byte
	gap    int
	policy policy
}

// NewDeviated watches a strategy.
func NewDeviated(inner sim.Strategy) *Deviated { return &Deviated{inner: inner} }

func (d *Deviated) String() string { return d.inner.String() }

// Begin starts a run of the inner strategy, with nothing recorded.
func (d *Deviated) Begin(n uint64) bool {
	*d = Deviated{inner: d.inner}
	return d.inner.Begin(n)
}

// Bytes of the run so far.
func (d *Deviated) Bytes() []byte { return d.bytes }

// Pick is the inner strategy's.
func (d *Deviated) Pick(step int, enabled []sim.Choice) int {
	usual, n := d.policy.byDefault(enabled), len(enabled)
	i := min(max(d.inner.Pick(step, enabled), 0), n-1) // as the kernel does
	if i == usual {
		d.gap++
	} else {
		d.write((i - usual + n) % n)
	}
	d.policy.took(enabled, i)
	return i
}

// write adds a deviation after the decisions by default since the last one.
func (d *Deviated) write(pick int) {
	for ; d.gap > 255; d.gap -= 256 {
		d.bytes = append(d.bytes, 255, 0)
	}
	if pick < bigPick {
		d.bytes = append(d.bytes, byte(d.gap), byte(pick))
	} else {
		more := min(pick-bigPick, 1<<16-1) // no world has that many parked messages
		d.bytes = append(d.bytes, byte(d.gap), bigPick, byte(more>>8), byte(more))
	}
	d.gap = 0
}

// byDefault is the choice of the default order, of a size too: the smallest.
func (p *policy) byDefault(enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		return 0
	}
	return p.front(enabled)
}

// took records whose turn it was, if any.
func (p *policy) took(enabled []sim.Choice, i int) {
	c := enabled[i]
	if !sim.Sizing(enabled) && c.Outcome != sim.Elapse && c.Outcome != sim.Delay {
		p.moved(c.Op)
	}
}
