package queue

import "ipamsim/fuzz/coverage"

// Sights are the pairs and states of one run that few earlier runs of its worker process had.
type Sights struct {
	coverage.Run
	Pairs, States, Allocators Packed `json:",omitempty"`
}

// Size returns the size in bytes.
func (x *Sights) Size() int { return len(x.Pairs) + len(x.States) + len(x.Allocators) }

// Sighted counts all kinds of states that runs saw.
type Sighted struct{ States, Allocators uint64 }
