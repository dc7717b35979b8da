package sim

import (
	"iter"
	"math/bits"
)

// Ways is a set of the ways in which a message can fail: small numbers, the Levels of FailBefore
// and of LoseReply. The adapter that offers them defines their meaning.
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

// WaysOf are the ways in which the outcome may be injected into a message. The set is empty if the
// outcome has no ways, or if the budget allows none of the message's ways.
func (b Budget) WaysOf(op *Op, o Outcome) Ways {
	w := op.Ways(o)
	if b.Ways != 0 {
		w &= b.Ways
	}
	return w
}

// Ways are the message's ways of an outcome.
func (o *Op) Ways(of Outcome) Ways {
	switch of {
	case FailBefore:
		return o.Fails
	case LoseReply:
		return o.Loses
	}
	return 0
}
