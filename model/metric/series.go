package metric

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Series are samples in virtual time. A value that did not change is not stored
// again. The zero value is ready.
type Series struct {
	instants []time.Duration
	samples  int
	tracks   map[string]*Track
}

// Track is one metric with its labels over time.
type Track struct {
	Name   string
	Labels []Label
	// Changes are in order of time. A value holds until the next; NaN means that there is no value
	// from then on.
	Changes []Change
	seen    int // the last sample it was in
}

// Change is a value from some instant on.
type Change struct {
	At    time.Duration
	Value float64
}

// Key is the track's identity as PromQL writes it.
func (t *Track) Key() string { return key(t.Name, t.Labels) }

// Label is the value of one of its labels, or "".
func (t *Track) Label(name string) string {
	for _, l := range t.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// At is the value at an instant; ok is false if there is none.
func (t *Track) At(at time.Duration) (value float64, ok bool) {
	i, found := slices.BinarySearchFunc(t.Changes, at, func(c Change, at time.Duration) int { return cmp.Compare(c.At, at) })
	if !found {
		i--
	}
	if i < 0 || math.IsNaN(t.Changes[i].Value) {
		return 0, false
	}
	return t.Changes[i].Value, true
}

// set stores a value if it differs from the last. Of two values at the same instant the later
// counts.
func (t *Track) set(at time.Duration, value float64) {
	if n := len(t.Changes); n > 0 {
		last := &t.Changes[n-1]
		if same(last.Value, value) {
			return
		}
		if last.At == at {
			last.Value = value
			if n > 1 && same(t.Changes[n-2].Value, value) {
				t.Changes = t.Changes[:n-1]
			}
			return
		}
	}
	t.Changes = append(t.Changes, Change{at, value})
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// Add appends a sample. Time must not go back. What the sample does not have any
// more ends.
func (s *Series) Add(at time.Duration, points []Point) {
	if s.tracks == nil {
		s.tracks = map[string]*Track{}
	}
	if n := len(s.instants); n == 0 || s.instants[n-1] != at {
		s.instants = append(s.instants, at)
	}
	s.samples++
	for _, p := range points {
		k := p.Key()
		t := s.tracks[k]
		if t == nil {
			t = &Track{Name: p.Name, Labels: p.Labels}
			s.tracks[k] = t
		}
		t.seen = s.samples
		t.set(at, p.Value)
	}
	for _, t := range s.tracks {
		if t.seen != s.samples {
			t.set(at, math.NaN())
		}
	}
}

// Instants are when samples were taken, in order.
func (s *Series) Instants() []time.Duration {
	if s == nil {
		return nil
	}
	return s.instants
}

// Tracks are all, sorted by name, then labels.
func (s *Series) Tracks() []*Track {
	if s == nil {
		return nil
	}
	out := make([]*Track, 0, len(s.tracks))
	for _, t := range s.tracks {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *Track) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareLabels(a.Labels, b.Labels))
	})
	return out
}

// First is the earliest instant at which some track of a metric satisfies a
// condition, and that track: the first in order if there are several.
func (s *Series) First(name string, holds func(float64) bool) (at time.Duration, which *Track) {
	for _, t := range s.Tracks() {
		if t.Name != name {
			continue
		}
		if first, ok := t.First(holds); ok && (which == nil || first < at) {
			at, which = first, t
		}
	}
	return at, which
}

// First is the earliest instant at which the track satisfies a condition.
func (t *Track) First(holds func(float64) bool) (at time.Duration, ok bool) {
	for _, c := range t.Changes {
		if !math.IsNaN(c.Value) && holds(c.Value) {
			return c.At, true
		}
	}
	return 0, false
}

// Sum is the sum of a metric over all its tracks at an instant; ok is false if
// none has a value.
func (s *Series) Sum(name string, at time.Duration) (sum float64, ok bool) {
	if s == nil {
		return 0, false
	}
	for _, t := range s.tracks { // whole numbers: the order does not matter
		if t.Name == name {
			if v, has := t.At(at); has {
				sum, ok = sum+v, true
			}
		}
	}
	return sum, ok
}
