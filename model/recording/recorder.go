package recording

import (
	"cmp"
	"slices"
	"time"
)

// Recorder records frames: it receives the current rows and keeps those that differ from the
// previous frame.
type Recorder struct {
	film   Recording
	now    Snapshot
	before map[place][]string // of the rows touched since the last frame; nil for one that was not there
}

// place names a row.
type place struct {
	table int
	key   string
}

// NewRecorder begins a film of empty tables.
func NewRecorder(tables []Table) *Recorder {
	r := &Recorder{film: Recording{Tables: tables, Frames: []Frame{}}, now: make(Snapshot, len(tables)), before: map[place][]string{}}
	for i := range r.now {
		r.now[i] = map[string][]string{}
	}
	return r
}

// Put says what a row is from now on, a cell for each column. The row belongs to
// the recorder then.
func (r *Recorder) Put(table int, key string, row ...string) {
	old, ok := r.now[table][key]
	if ok && slices.Equal(old, row) {
		return
	}
	r.touch(table, key, old)
	r.now[table][key] = row
}

// Drop says that a row is gone. One that was not there may be dropped.
func (r *Recorder) Drop(table int, key string) {
	if old, ok := r.now[table][key]; ok {
		r.touch(table, key, old)
		delete(r.now[table], key)
	}
}

func (r *Recorder) touch(table int, key string, old []string) {
	p := place{table, key}
	if _, known := r.before[p]; !known {
		r.before[p] = old
	}
}

// Cut ends a frame: the changes since the last one apply after a step, at a virtual time. Steps
// must not decrease; a second cut of one step adds to its frame.
func (r *Recorder) Cut(step int, at time.Duration) {
	var changes []Change
	for p, old := range r.before {
		if row := r.now[p.table][p.key]; !slices.Equal(row, old) || (row == nil) != (old == nil) {
			changes = append(changes, Change{p.table, p.key, row})
		}
	}
	clear(r.before)
	if len(changes) == 0 {
		return
	}
	if n := len(r.film.Frames); n > 0 && r.film.Frames[n-1].Step == step {
		again := map[place]bool{}
		for _, c := range changes {
			again[place{c.Table, c.Key}] = true
		}
		for _, c := range r.film.Frames[n-1].Changes {
			if !again[place{c.Table, c.Key}] {
				changes = append(changes, c)
			}
		}
		r.film.Frames = r.film.Frames[:n-1]
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key)) })
	r.film.Frames = append(r.film.Frames, Frame{step, at, changes})
}

// Recording is the recording up to the last cut. It grows with the next.
func (r *Recorder) Recording() *Recording { return &r.film }
