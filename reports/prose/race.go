package prose

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
)

// letter returns the label of the i-th race of a run: A for 0.
func letter(i int) string { return string(rune('A' + max(0, i)%model.RacesMax)) }

// Marks lists the parts that one message has in the races of a run: "A read". Parts of one
// kind are joined: "A,B change".
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

// Race states the result of the run in which the two messages of the i-th race are swapped.
func Race(i int, r *model.Race) string {
	return fmt.Sprintf("%s: if the read of step %d comes after the change of step %d, there is no %s (simulated)", letter(i), r.Read, r.Change, r.Invariant)
}
