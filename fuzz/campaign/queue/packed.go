package queue

import (
	"encoding/binary"
	"slices"
)

// Packed is a set of hashes as differences of its sorted members: in JSON seven
// or eight letters each.
type Packed []byte

// Pack sorts the numbers and makes a set of them.
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

// Numbers is the inverse of Pack, as far as the bytes make sense.
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
