package calico

// queue holds the free ordinals of a block in the order in which they are handed
// out: a ring with room for every ordinal. Released ones come to the end, so that an
// address rests as long as possible.
type queue struct {
	ring  []uint16 // as many as the block has addresses: a power of two
	first int
	n     int
}

// newQueue has the ordinals below size, a power of two, in ascending order.
func newQueue(size int) queue {
	q := queue{ring: make([]uint16, size), n: size}
	for i := range q.ring {
		q.ring[i] = uint16(i)
	}
	return q
}

func (q *queue) at(i int) *uint16 { return &q.ring[(q.first+i)&(len(q.ring)-1)] }

func (q *queue) push(o uint16) {
	q.n++
	*q.at(q.n - 1) = o
}

// take removes and returns the ordinal at a place.
func (q *queue) take(i int) uint16 {
	o := *q.at(i)
	for ; i > 0; i-- {
		*q.at(i) = *q.at(i - 1)
	}
	q.first++
	q.n--
	return o
}

// index is the place of an ordinal, or -1.
func (q *queue) index(o uint16) int {
	for i := range q.n {
		if *q.at(i) == o {
			return i
		}
	}
	return -1
}
