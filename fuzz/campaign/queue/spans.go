package queue

import "slices"

// Span is the seeds from From up to, not including, To.
type Span struct{ From, To uint64 }

// Spans are disjoint, sorted, and never touch.
type Spans []Span

// Add puts the seeds in and reports how many were not there yet.
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

// Gap is the first seeds from first on that are missing, at most most of them.
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

// Has reports whether the seed is one of them.
func (s Spans) Has(seed uint64) bool {
	return slices.ContainsFunc(s, func(x Span) bool { return x.From <= seed && seed < x.To })
}

// Len is how many seeds there are.
func (s Spans) Len() (n uint64) {
	for _, x := range s {
		n += x.To - x.From
	}
	return n
}
