package page

import (
	"strings"

	"ipamsim/reports"
)

// violationsMax is how many violations have their timeline in the page's text. A run
// that breaks more of them breaks the same thing again and again; all of them are in
// the record.
const violationsMax = 100

// others are the violations that are not the gravest: those found before it and
// those found after it.
type others struct {
	Count         int
	Before, After side
	Left          int // that are not among them
}

// side is what one side of the gravest has, kind by kind.
type side struct {
	Count int
	Kinds []kind
}

// kind is the violations of one invariant, in the order they were found.
type kind struct {
	Invariant string
	All       []violation
}

func othersOf(rec *reports.Record, first int) (o others) {
	for i := range rec.Violations {
		switch v := (violation{&rec.Violations[i], i}); {
		case i == first:
		case o.Count == violationsMax:
			o.Left++
		case i < first:
			o.Count++
			o.Before.add(v)
		default:
			o.Count++
			o.After.add(v)
		}
	}
	return o
}

func (s *side) add(v violation) {
	s.Count++
	for i := range s.Kinds {
		if k := &s.Kinds[i]; k.Invariant == v.Invariant {
			k.All = append(k.All, v)
			return
		}
	}
	s.Kinds = append(s.Kinds, kind{v.Invariant, []violation{v}})
}

// Many says whether they are so many that they are folded.
func (k kind) Many() bool { return len(k.All) > 2 }

// Subjects names what the first few are about.
func (k kind) Subjects() string {
	const few = 4
	var names []string
	for _, v := range k.All {
		if s := subject(v); s != "" {
			names = append(names, s)
		}
	}
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
