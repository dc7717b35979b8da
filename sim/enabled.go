package sim

import (
	"cmp"
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
	slices.SortFunc(w.parked, func(a, b *parked) int {
		return cmp.Or(cmp.Compare(a.op.Actor, b.op.Actor), cmp.Compare(a.op.Seq, b.op.Seq))
	})
	for _, p := range w.parked {
		switch {
		case w.held[string(p.op.Actor)] > 0 || w.held[p.group] > 0:
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
	if w.faults >= w.opts.Faults.Max {
		return out
	}
	hurts := p.op.Hurts & w.opts.Faults.Allowed
	for o := FailBefore; o < outcomes; o++ {
		if hurts.Has(o) {
			out = append(out, Choice{Op: p.op, Outcome: o, Due: p.due})
		}
	}
	return out
}

func (w *World) find(op Op) *parked {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.parked, func(p *parked) bool { return p.op.Actor == op.Actor && p.op.Seq == op.Seq })
	return w.parked[i]
}
