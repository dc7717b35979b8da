package whereabouts

import "math/bits"

// used is a set of offsets below 2^63 that finds its lowest gap in a few steps, whatever its size.
// The zero value is the empty set.
//
// It is a tree of 64 branches, from the leaves up: a bit of words[0] is an offset, and a bit of
// words[i+1] means that all 64 bits of words[i] below it are set. Missing words are zero, so a set
// far from its range's start costs no more.
type used struct{ words [11]map[uint64]uint64 }

const full = ^uint64(0)

func (u *used) add(x uint64) {
	for i := range u.words {
		if u.words[i] == nil {
			u.words[i] = map[uint64]uint64{}
		}
		w := u.words[i][x>>6] | 1<<(x&63)
		u.words[i][x>>6] = w
		if w != full {
			return
		}
		x >>= 6
	}
}

func (u *used) remove(x uint64) {
	for i := range u.words {
		w := u.words[i][x>>6]
		if v := w &^ (1 << (x & 63)); v == 0 {
			delete(u.words[i], x>>6)
		} else {
			u.words[i][x>>6] = v
		}
		if w != full {
			return
		}
		x >>= 6
	}
}

// next is the lowest offset from x on that is not in the set.
func (u *used) next(x uint64) uint64 {
	for i := range u.words {
		free := ^u.words[i][x>>6] &^ (1<<(x&63) - 1)
		if free == 0 {
			x = x>>6 + 1
			continue
		}
		x = x&^63 | uint64(bits.TrailingZeros64(free))
		for ; i > 0; i-- {
			x = x<<6 | uint64(bits.TrailingZeros64(^u.words[i-1][x]))
		}
		return x
	}
	return x // not reached: a pool never has 2^63 allocations
}
