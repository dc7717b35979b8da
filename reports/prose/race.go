package prose

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
)

// letter is what the i-th race of a run is called, from 0.
func letter(i int) string { return string(rune('A' + max(0, i)%model.RacesMax)) }

// Marks are the parts of one message in the races of a run, "A read": those of one kind
// together, "A,B change".
func Marks(marks []model.RaceMark) string {
	var out []string
	for _, part := range []model.RacePart{model.RaceRead, model.RaceChange, model.RaceUse} {
		var of []string
		for _, m := range marks {
			if m.Part == part {
				of = append(of, letter(m.Race))
			}
		}
		if len(of) > 0 {
			out = append(out, strings.Join(slices.Compact(of), ",")+" "+string(part))
		}
	}
	return strings.Join(out, ", ")
}

// Race is what happens with the two messages of the i-th race in the other order.
func Race(i int, r *model.Race) string {
	return fmt.Sprintf("%s: with the read of step %d after the change of step %d, %s does not break (tried)", letter(i), r.Read, r.Change, r.Invariant)
}
