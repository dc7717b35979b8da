package strategy

import (
	"errors"
	"fmt"
	"slices"

	"ipamsim/sim"
)

// ErrNondeterminism is what Twice.Err wraps: something but the schedule decided.
var ErrNondeterminism = errors.New("uncontrolled nondeterminism")

// Twice makes every run of another strategy twice. The first run records the choices and the pick
// of each decision; the second repeats the picks and compares. A difference is a defect of the
// harness, never a finding: the run may not be reproducible.
//
// Source: Shuttle's UncontrolledNondeterminismCheckScheduler (AWS Labs).
type Twice struct {
	inner  sim.Strategy
	second bool
	next   int // decision of the second run
	log    []decision
	err    error
	rest   Serial // goes on where the second run left the first
}

// decision is the enabled choices and the pick.
type decision struct {
	enabled []sim.Choice
	pick    int
}

// NewTwice wraps a strategy of any number of runs.
func NewTwice(inner sim.Strategy) *Twice { return &Twice{inner: inner} }

func (t *Twice) String() string { return fmt.Sprintf("twice(%s)", t.inner) }

// Begin allows two runs for each of the inner strategy's. It ends after the first
// difference.
func (t *Twice) Begin(n uint64) bool {
	if t.Err() != nil {
		return false
	}
	if t.second = n%2 == 1; t.second {
		t.next = 0
		return true
	}
	t.log = t.log[:0]
	return t.inner.Begin(n / 2)
}

// Pick records, or repeats and compares.
func (t *Twice) Pick(step int, enabled []sim.Choice) int {
	if !t.second {
		p := t.inner.Pick(step, enabled)
		t.log = append(t.log, decision{slices.Clone(enabled), p})
		return p
	}
	if t.err == nil && t.next == len(t.log) {
		t.differ(step, "the first run was over, the second goes on")
	}
	if t.err == nil {
		d := t.log[t.next]
		if diff := difference(d.enabled, enabled); diff != "" {
			t.differ(step, diff)
		} else {
			t.next++
			return d.pick
		}
	}
	return t.rest.Pick(step, enabled)
}

func (t *Twice) differ(step int, what string) {
	t.err = fmt.Errorf("%w after step %d, decision %d: %s", ErrNondeterminism, step, t.next+1, what)
}

// Err is nil as long as every second run was the first one again. Ask it after
// the second.
func (t *Twice) Err() error {
	if t.err == nil && t.second && t.next < len(t.log) {
		return fmt.Errorf("%w: the first run went on for %d decisions when the second was over", ErrNondeterminism, len(t.log)-t.next)
	}
	return t.err
}

// difference names the first choice that only one of the runs had, or had otherwise.
func difference(first, second []sim.Choice) string {
	for i := range max(len(first), len(second)) {
		switch {
		case i >= len(first):
			return fmt.Sprintf("only the second run could %s", describe(second[i]))
		case i >= len(second):
			return fmt.Sprintf("only the first run could %s", describe(first[i]))
		case !same(first[i], second[i]):
			return fmt.Sprintf("the first run could %s, the second %s", describe(first[i]), describe(second[i]))
		}
	}
	return ""
}

// same reports whether two runs had the same choice; requests are compared by content.
func same(a, b sim.Choice) bool {
	x, y := a.Op.Request, b.Op.Request
	a.Op.Request, b.Op.Request = nil, nil
	return a == b && (x == y || x != nil && y != nil && *x == *y)
}

func describe(c sim.Choice) string {
	if c.Outcome == sim.Elapse {
		return fmt.Sprintf("let time pass until %v", c.Due)
	}
	return fmt.Sprintf("%s %s (due %v)", c.Outcome, c.Op, c.Due)
}
