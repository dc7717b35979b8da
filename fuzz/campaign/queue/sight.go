package queue

import "ipamsim/fuzz/coverage"

// Sights are what one run saw that its worker process had seen in few runs before.
type Sights struct {
	coverage.Run
	Pairs, States, Allocators Packed `json:",omitempty"`
}

// Size in bytes.
func (x *Sights) Size() int { return len(x.Pairs) + len(x.States) + len(x.Allocators) }

// Sighted is how many kinds of states runs saw, all of them.
type Sighted struct{ States, Allocators uint64 }
