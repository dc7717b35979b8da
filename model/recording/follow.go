package recording

// Follow passes a recorder the changes of a list that is recorded again and again and mostly
// stays the same: only the part between the first and the last difference is recorded.
type Follow[T any] struct {
	Same func(a, b *T) bool // false if rows may differ
	// Rows puts the rows of a value. Keys are unique in the table, and those of one
	// value are never those of another.
	Rows func(v *T, put func(key string, row ...string))

	last []T
}

// Update compares a list with the one before, which is kept and must not be changed.
func (f *Follow[T]) Update(r *Recorder, table int, list []T) {
	old, now := f.last, list
	f.last = list
	for len(old) > 0 && len(now) > 0 && f.Same(&old[0], &now[0]) {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && f.Same(&old[len(old)-1], &now[len(now)-1]) {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	if len(old) == 0 && len(now) == 0 {
		return
	}
	still := map[string]bool{}
	for i := range now {
		f.Rows(&now[i], func(key string, row ...string) {
			still[key] = true
			r.Put(table, key, row...)
		})
	}
	for i := range old {
		f.Rows(&old[i], func(key string, _ ...string) {
			if !still[key] {
				r.Drop(table, key)
			}
		})
	}
}
