// Package recording keeps the state of a run after each step, so that a reader can go back to
// any step.
package recording

import (
	"fmt"
	"slices"
	"time"
)

// Recording is a run as tables whose rows are added, changed and removed. It stores the differences
// between frames; unchanged rows take no space.
type Recording struct {
	Tables []Table `json:"tables"`
	Frames []Frame `json:"frames"` // by step, only those in which something changed
}

// Table is one table: claims, live sandboxes, or the routes of a node.
type Table struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`   // for people
	Columns []string `json:"columns"` // names of the cells of a row
}

// Frame is what changed with one step. Step 0 is what there was before the first.
type Frame struct {
	Step    int           `json:"step"`
	At      time.Duration `json:"at"` // virtual, ns
	Changes []Change      `json:"changes"`
}

// Change of one row: it is now Row, or gone if Row is nil. Within a frame they are
// sorted by table, then key, and each row changes once.
type Change struct {
	Table int      `json:"t"` // index into Film.Tables
	Key   string   `json:"k"` // which row, unique in its table and the same as long as the row is there
	Row   []string `json:"r"` // a cell for each column
}

// Snapshot is what a film shows at a step: for each table its rows by key.
type Snapshot []map[string][]string

// At is the scene after a step.
func (f *Recording) At(step int) Snapshot {
	s := make(Snapshot, len(f.Tables))
	for i := range s {
		s[i] = map[string][]string{}
	}
	for _, fr := range f.Frames {
		if fr.Step > step {
			break
		}
		s.apply(fr.Changes)
	}
	return s
}

func (s Snapshot) apply(changes []Change) {
	for _, c := range changes {
		if c.Row == nil {
			delete(s[c.Table], c.Key)
		} else {
			s[c.Table][c.Key] = c.Row
		}
	}
}

// Check reports errors in a film from a file.
func (f *Recording) Check() error {
	last := -1
	for i, fr := range f.Frames {
		if fr.Step <= last || fr.At < 0 {
			return fmt.Errorf("frame %d: step %d at %s: want later ones than step %d", i, fr.Step, fr.At, last)
		}
		last = fr.Step
		for _, c := range fr.Changes {
			if c.Table < 0 || c.Table >= len(f.Tables) {
				return fmt.Errorf("frame %d: no table %d", i, c.Table)
			}
			if n := len(f.Tables[c.Table].Columns); c.Row != nil && len(c.Row) != n {
				return fmt.Errorf("frame %d: a row of %s: want %d cells, have %d", i, f.Tables[c.Table].Name, n, len(c.Row))
			}
		}
	}
	return nil
}

// Table is the index of a table by name, -1 if there is none.
func (f *Recording) Table(name string) int {
	return slices.IndexFunc(f.Tables, func(t Table) bool { return t.Name == name })
}
