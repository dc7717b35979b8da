package record

import (
	"cmp"
	"slices"
	"sort"
)

// section is a part of the record: values by key of the store, listed in order. A list that was
// lent is never changed; the next change is made in a copy, so several changes between two reads
// cost one copy.
type section[V any] struct {
	order func(a, b V) int // ties are broken by key

	at    map[string]V
	list  []V
	keys  []string // of list
	lent  bool     // list was returned to a caller and must not be changed
	fresh bool     // lend was called since the last change
}

// lend is the list. It must not be changed.
func (s *section[V]) lend() []V {
	s.lent, s.fresh = true, true
	return s.list
}

// changed reports whether there was a change since the last lend.
func (s *section[V]) changed() bool { return !s.fresh }

// find is where a value stands, or would.
func (s *section[V]) find(key string, v V) (int, bool) {
	return sort.Find(len(s.list), func(i int) int { return cmp.Or(s.order(v, s.list[i]), cmp.Compare(key, s.keys[i])) })
}

func (s *section[V]) put(key string, v V) {
	if old, ok := s.at[key]; ok {
		if s.order(old, v) != 0 {
			s.drop(key)
		} else {
			i, _ := s.find(key, old)
			s.own()
			s.list[i], s.at[key] = v, v
			return
		}
	}
	s.own()
	i, _ := s.find(key, v)
	s.list, s.keys = slices.Insert(s.list, i, v), slices.Insert(s.keys, i, key)
	if s.at == nil {
		s.at = map[string]V{}
	}
	s.at[key] = v
}

func (s *section[V]) drop(key string) {
	v, ok := s.at[key]
	if !ok {
		return
	}
	s.own()
	i, _ := s.find(key, v)
	s.list, s.keys = slices.Delete(s.list, i, i+1), slices.Delete(s.keys, i, i+1)
	delete(s.at, key)
}

// own makes a copy of a lent list, which may then be changed.
func (s *section[V]) own() {
	if s.lent {
		s.list = slices.Clone(s.list)
	}
	s.lent, s.fresh = false, false
}
