package model

// Race is an order of two messages that decides: a process read something, somebody else
// changed it, and the process went on with what it had read ("time of check to time of
// use"). That the order decides was tried: in the same run with the read after the change, the invariant does not break in
// this way.
type Race struct {
	Invariant string `json:"invariant" jsonschema:"required"` // of the violation that does not come then
	Code      string `json:"code,omitempty"`                  // of it: Violation.Code
	// Steps of the run that shows it, from 1, in this order. Use is the message with which
	// the process went on: the write that broke the invariant, or the last of a call.
	Read   int `json:"read" jsonschema:"required"`
	Change int `json:"change" jsonschema:"required"`
	Use    int `json:"use" jsonschema:"required"`
}

// Of reports whether the race is one of a violation.
func (r *Race) Of(v *Violation) bool { return r.Invariant == v.Invariant && r.Code == v.Code }

// Ordered reports whether its steps are in their order, up to a last one.
func (r *Race) Ordered(last int) bool {
	return 0 < r.Read && r.Read < r.Change && r.Change < r.Use && r.Use <= last
}

// RacePart is what a message has to do with a race.
type RacePart string

// The parts.
const (
	RaceRead   RacePart = "read"
	RaceChange RacePart = "change"
	RaceUse    RacePart = "use"
)

// RacesMax is how many races a run may have: one for each letter that they are called by.
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
