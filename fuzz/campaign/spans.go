package campaign

import "slices"

// span is the seeds from From up to, not including, To.
type span struct{ From, To uint64 }

// spans are disjoint, sorted, and never touch.
type spans []span

// add puts the seeds in and reports how many were not there yet.
func (s *spans) add(n span) (fresh uint64) {
	before := s.len()
	if n.From >= n.To {
		return 0
	}
	first, _ := slices.BinarySearchFunc(*s, n.From, func(x span, from uint64) int {
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
	return s.len() - before
}

// gap is the first seeds from first on that are missing, at most most of them.
func (s spans) gap(first, most uint64) span {
	g := span{first, first + most}
	for _, x := range s {
		switch {
		case x.To <= g.From:
		case x.From <= g.From:
			g = span{x.To, x.To + most}
		default:
			g.To = min(g.To, x.From)
			return g
		}
	}
	return g
}

// has reports whether the seed is one of them.
func (s spans) has(seed uint64) bool {
	return slices.ContainsFunc(s, func(x span) bool { return x.From <= seed && seed < x.To })
}

func (s spans) len() (n uint64) {
	for _, x := range s {
		n += x.To - x.From
	}
	return n
}
