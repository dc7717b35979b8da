package page

import (
	"strings"

	"ipamsim/reports/record"
)

// violationsMax is how many violations have their timeline in the page's text. A run
// that breaks more of them breaks the same thing again and again; all of them are in
// the record.
const violationsMax = 100

// others are the violations that are not the gravest: those found before it and
// those found after it, or in an imported cluster those that are new and those that
// were there before.
type others struct {
	Count int
	Sides []side
	Left  int // that are not among them
}

// side is a part of the others, kind by kind.
type side struct {
	Title string
	Count int
	Kinds []kind
}

// kind is the violations of one invariant, in the order they were found.
type kind struct {
	Invariant string
	All       []violation
}

func othersOf(rec *record.Record, first int) (o others) {
	o.Sides = []side{{Title: "Before it"}, {Title: "After it"}}
	if rec.Imported {
		o.Sides = []side{{Title: "New since the dump"}, {Title: "In the dump already"}}
	}
	for i := range rec.Violations {
		v := violation{&rec.Violations[i], i}
		second := i > first
		if rec.Imported {
			second = v.Known
		}
		switch {
		case i == first:
			continue
		case o.Count == violationsMax:
			o.Left++
			continue
		}
		o.Count++
		if second {
			o.Sides[1].add(v)
		} else {
			o.Sides[0].add(v)
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
