package sim

import (
	"iter"
	"math/bits"
)

// Ways is a set of the ways in which a message goes wrong: small numbers, the Levels of
// FailBefore and of LoseReply. What they mean is known to the adapter that offers them.
type Ways uint32

// Way is the set of one.
func Way(n int) Ways { return 1 << n }

// Has reports whether the set holds n.
func (s Ways) Has(n int) bool { return s&Way(n) != 0 }

// Len is the number of ways.
func (s Ways) Len() int { return bits.OnesCount32(uint32(s)) }

// First is the least way, 0 of an empty set: an adapter that offers a fault and no ways has
// one, number 0.
func (s Ways) First() int {
	if s == 0 {
		return 0
	}
	return bits.TrailingZeros32(uint32(s))
}

// All are the ways in order.
func (s Ways) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(s.First()) {
				return
			}
		}
	}
}

// WaysOf are those in which the outcome may be injected into a message. They are empty if
// the outcome has none, and if the budget allows none of those that the message has.
func (b Budget) WaysOf(op *Op, o Outcome) Ways {
	w := op.Ways(o)
	if b.Ways != 0 {
		w &= b.Ways
	}
	return w
}

// Ways are those of an outcome that the message has.
func (o *Op) Ways(of Outcome) Ways {
	switch of {
	case FailBefore:
		return o.Fails
	case LoseReply:
		return o.Loses
	}
	return 0
}
