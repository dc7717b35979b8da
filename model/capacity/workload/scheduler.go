package workload

// scheduler finds the place for a pod: among the places that take pods and have room, the one with
// the lowest ratio of pods to its drawn number; among equals, the machine with the lowest number.
// It is a tournament: each decision, and each change of one place, costs the logarithm of their
// number.
//
// A place is a slot for a machine; a replacement has the same place.
type scheduler struct {
	places []place
	best   []int32 // a complete binary tree: the winner below each knot, -1 where none takes pods
	leaves int
}

// place is what the scheduler knows of a machine.
type place struct {
	machine int32
	open    bool // takes pods
	pods    int
	target  int // meant to have; 0: only what fits nowhere else
	room    int // pods that it can have
}

func newScheduler(placesMax int) *scheduler {
	s := &scheduler{leaves: 1, places: make([]place, 0, placesMax)}
	for s.leaves < placesMax {
		s.leaves *= 2
	}
	s.best = make([]int32, 2*s.leaves)
	for i := range s.best {
		s.best[i] = -1
	}
	return s
}

// add makes room for one more machine and returns its place.
func (s *scheduler) add(p place) int32 {
	s.places = append(s.places, p)
	i := int32(len(s.places) - 1)
	s.changed(i)
	return i
}

// choose is the best place, -1 if none has room.
func (s *scheduler) choose() int32 { return s.best[1] }

// changed repeats the comparisons of one place.
func (s *scheduler) changed(i int32) {
	p, knot := &s.places[i], s.leaves+int(i)
	s.best[knot] = -1
	if p.open && p.pods < p.room {
		s.best[knot] = i
	}
	for knot /= 2; knot > 0; knot /= 2 {
		s.best[knot] = s.better(s.best[2*knot], s.best[2*knot+1])
	}
}

func (s *scheduler) better(a, b int32) int32 {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	x, y := &s.places[a], &s.places[b]
	l, r := x.pods*y.target, y.pods*x.target
	switch {
	case x.target == 0 && y.target == 0:
		l, r = x.pods, y.pods
	case x.target == 0:
		return b
	case y.target == 0:
		return a
	}
	if l < r || l == r && x.machine < y.machine {
		return a
	}
	return b
}
