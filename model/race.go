package model

// Race is an order of two messages that causes a violation: a process read an object,
// another process changed it, and the first process used what it had read ("time of check
// to time of use"). This was verified: in the same run with the read after the change, the
// invariant does not break in this way.
type Race struct {
	Invariant string `json:"invariant" jsonschema:"required"` // of the violation that the other order avoids
	Code      string `json:"code,omitempty"`                  // Violation.Code
	// Steps of the run that shows the race, from 1, in this order. Use is the message in
	// which the process used what it had read: the write that broke the invariant, or the
	// last message of a call.
	Read   int `json:"read" jsonschema:"required"`
	Change int `json:"change" jsonschema:"required"`
	Use    int `json:"use" jsonschema:"required"`
}

// Of reports whether the race belongs to a violation.
func (r *Race) Of(v *Violation) bool { return r.Invariant == v.Invariant && r.Code == v.Code }

// Ordered reports whether its steps are in order and none is after last.
func (r *Race) Ordered(last int) bool {
	return 0 < r.Read && r.Read < r.Change && r.Change < r.Use && r.Use <= last
}

// RacePart is the role of a message in a race.
type RacePart string

// The parts.
const (
	RaceRead   RacePart = "read"
	RaceChange RacePart = "change"
	RaceUse    RacePart = "use"
)

// RacesMax is the greatest number of races of a run: a letter names each.
const RacesMax = 26

// RaceMark is a message's part in one of several races.
type RaceMark struct {
	Race int      `json:"race"` // which, from 0
	Part RacePart `json:"part"`
}

// MarksOf are the parts of a step in the races of a run, in their order.
func MarksOf(races []Race, step int) (out []RaceMark) {
	for i := range races {
		switch r := &races[i]; step {
		case r.Read:
			out = append(out, RaceMark{i, RaceRead})
		case r.Change:
			out = append(out, RaceMark{i, RaceChange})
		case r.Use:
			out = append(out, RaceMark{i, RaceUse})
		}
	}
	return out
}
