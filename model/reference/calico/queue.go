package calico

// queue is the order of a block's free ordinals, in which they are assigned: a ring in the block's
// slots. Released ones are appended, so that an address is unused for as long as possible.
type queue struct {
	first   uint32 // modulo the number of slots, which is a power of two
	waiting int32
}

// at is where the ordinal at a place of the queue is.
func (b *block) at(i int32) *slot { return &b.slots[int(b.first+uint32(i))&(len(b.slots)-1)] }

// push puts an ordinal at the end.
func (b *block) push(o uint16) {
	b.waiting++
	b.at(b.waiting - 1).queued = o
}

// pull removes and returns the ordinal at a place.
func (b *block) pull(i int32) uint16 {
	o := b.at(i).queued
	for ; i > 0; i-- {
		b.at(i).queued = b.at(i - 1).queued
	}
	b.first++
	b.waiting--
	return o
}

// index is the place of an ordinal that is free.
func (b *block) index(o uint16) (i int32) {
	for b.at(i).queued != o {
		i++
	}
	return i
}
