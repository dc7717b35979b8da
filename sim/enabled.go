package sim

import (
	"slices"
	"time"
)

// elapseMax bounds an Elapse that is chosen while messages could be delivered.
// Without it one unlucky choice would let every request run into its deadline.
const elapseMax = 500 * time.Millisecond

// enabled lists what may happen next: for every deliverable message, in order of
// actor and number, its outcomes; then the passing of time.
func (w *World) enabled() []Choice {
	now := w.Now()
	next := w.opts.Limits.Virtual
	out := w.buf[:0]
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parked {
		switch {
		case w.stays(p.actor, &p.op):
		case p.due > now:
			next = min(next, p.due)
			if !p.delayed {
				out = append(out, Choice{Op: p.op, Outcome: Delay, Due: p.due})
			}
		default:
			out = w.outcomes(out, p)
		}
	}
	if len(out) > 0 {
		next = min(next, now+elapseMax)
	}
	out = append(out, Choice{Outcome: Elapse, Due: next})
	w.buf = out
	return out
}

func (w *World) outcomes(out []Choice, p *parked) []Choice {
	out = append(out, Choice{Op: p.op, Outcome: Proceed, Due: p.due})
	if !p.delayed {
		out = append(out, Choice{Op: p.op, Outcome: Delay, Due: p.due})
	}
	if b := w.opts.Faults; w.faults >= b.Max || b.Until > 0 && w.Now() >= b.Until {
		return out
	}
	hurts := w.opts.Faults.Of(p.op)
	w.trace.Exposed = w.trace.Exposed || hurts != 0
	for o := FailBefore; o < outcomes; o++ {
		if hurts.Has(o) {
			out = append(out, Choice{Op: p.op, Outcome: o, Level: w.opts.Faults.WaysOf(&p.op, o).First(), Due: p.due})
		}
	}
	return out
}

// Of is what may be done to a message, as long as faults are left.
func (b Budget) Of(op Op) FaultSet {
	if len(b.Only) > 0 && !slices.ContainsFunc(b.Only, op.contains) {
		return 0
	}
	set := op.Faults & b.Allowed
	for _, o := range []Outcome{FailBefore, LoseReply} {
		if op.Ways(o) != 0 && b.WaysOf(&op, o) == 0 {
			set &^= Of(o)
		}
	}
	return set
}
