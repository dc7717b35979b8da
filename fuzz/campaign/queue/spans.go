package queue

import "slices"

// Span is the seeds from From up to, but not including, To.
type Span struct{ From, To uint64 }

// Spans are disjoint, sorted and not adjacent.
type Spans []Span

// Add adds the seeds and returns how many are new.
func (s *Spans) Add(n Span) (fresh uint64) {
	before := s.Len()
	if n.From >= n.To {
		return 0
	}
	first, _ := slices.BinarySearchFunc(*s, n.From, func(x Span, from uint64) int {
		if x.To < from {
			return -1
		}
		return 1
	})
	last := first
	for last < len(*s) && (*s)[last].From <= n.To {
		n.From, n.To = min(n.From, (*s)[last].From), max(n.To, (*s)[last].To)
		last++
	}
	*s = slices.Replace(*s, first, last, n)
	return s.Len() - before
}

// Gap returns the first missing seeds from first on, at most most of them.
func (s Spans) Gap(first, most uint64) Span {
	g := Span{first, first + most}
	for _, x := range s {
		switch {
		case x.To <= g.From:
		case x.From <= g.From:
			g = Span{x.To, x.To + most}
		default:
			g.To = min(g.To, x.From)
			return g
		}
	}
	return g
}

// Has reports whether the set contains a seed.
func (s Spans) Has(seed uint64) bool {
	return slices.ContainsFunc(s, func(x Span) bool { return x.From <= seed && seed < x.To })
}

// Len returns the number of seeds.
func (s Spans) Len() (n uint64) {
	for _, x := range s {
		n += x.To - x.From
	}
	return n
}
