package queue

import (
	"encoding/binary"
	"slices"
)

// Packed is a set of hashes, stored as the differences of its sorted members. In JSON each takes
// seven or eight characters.
type Packed []byte

// Pack sorts the numbers and returns them as a set.
func Pack(numbers []uint64) Packed {
	slices.Sort(numbers)
	var out Packed
	last := uint64(0)
	for _, n := range numbers {
		out = binary.AppendUvarint(out, n-last)
		last = n
	}
	return out
}

// Numbers is the inverse of Pack. It stops at bytes that it cannot decode.
func (p Packed) Numbers() []uint64 {
	var out []uint64
	last := uint64(0)
	for len(p) > 0 {
		d, n := binary.Uvarint(p)
		if n <= 0 {
			break
		}
		last += d
		out = append(out, last)
		p = p[n:]
	}
	return out
}
