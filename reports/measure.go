package reports

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Measure is one of the things that a run costs.
type Measure struct {
	Family Family `json:"family"`
	// Per is the kind of process that it is of: ADD, DEL, "pass of NAME" for a reconciler
	// and the bare name for a daemon; "" for what is of the whole run.
	Per string `json:"per,omitempty"`
	// When is of what there is all the time.
	When When `json:"when,omitempty"`
}

// Family of measures that differ in Per and When only: they have one tolerance.
type Family string

// The families, as the files of baselines name them.
const (
	APICalls       Family = "API calls"       // requests to the API server or to the manager's own datastore
	UsualAPICalls  Family = "usual API calls" // the median of the processes, robust against outliers
	Writes         Family = "writes"          // of the calls
	Conflicts      Family = "conflicts"       // of the writes: refused because of a concurrent write, and retried
	TimeMedian     Family = "time, median"    // from beginning to end, virtual seconds, of those that ended
	Time95         Family = "time, 95 %"
	TimeLongest    Family = "time, longest"
	Addresses      Family = "addresses"
	Blocks         Family = "blocks"
	Routes         Family = "routes"
	RefusedADDs    Family = "ADDs refused"            // that ended without an address, or never did
	WithoutAddress Family = "pods without an address" // of those that asked for one and were never given any
)

// Per of the CNI's calls.
const (
	ADD = "ADD"
	DEL = "DEL"
)

// When something is counted that there is all the time.
type When string

// The times.
const (
	AtMost   When = "at most"
	AtTheEnd When = "at the end"
)

// shares are the families of times, and at which share of them each is.
var shares = []struct {
	family Family
	share  float64
	name   string
}{{TimeMedian, 0.5, "median"}, {Time95, 0.95, "95 %"}, {TimeLongest, 1, "longest"}}

// String is the measure's name, in reports and in the files of baselines: "API calls per
// ADD", "time of an ADD, median", "addresses at most".
func (m Measure) String() string {
	for _, s := range shares {
		if m.Family == s.family {
			article := "a "
			if m.Per == ADD {
				article = "an "
			}
			return "time of " + article + m.Per + ", " + s.name
		}
	}
	switch {
	case m.Family == UsualAPICalls:
		return string(APICalls) + " of a usual " + m.Per
	case m.Per != "":
		return string(m.Family) + " per " + m.Per
	case m.When != "":
		return string(m.Family) + " " + string(m.When)
	}
	return string(m.Family)
}

// PerCall reports whether it is what single ADDs or DELs ask for.
func (m Measure) PerCall() bool {
	asked := m.Family == APICalls || m.Family == UsualAPICalls || m.Family == Writes || m.Family == Conflicts
	return asked && (m.Per == ADD || m.Per == DEL)
}

// Measures are those of a cost, by name.
func (c Cost) Measures() []Measure {
	return slices.SortedFunc(maps.Keys(c), func(a, b Measure) int { return cmp.Compare(a.String(), b.String()) })
}

// measured is an entry of a Cost as JSON.
type measured struct {
	Measure
	Amount
}

// MarshalJSON is a list, by name: a key of JSON is a text, and a Measure is none.
func (c Cost) MarshalJSON() ([]byte, error) {
	out := []measured{}
	for _, m := range c.Measures() {
		out = append(out, measured{m, c[m]})
	}
	return json.Marshal(out)
}

// UnmarshalJSON is its inverse.
func (c *Cost) UnmarshalJSON(text []byte) error {
	var all []measured
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*c = Cost{}
	for _, m := range all {
		(*c)[m.Measure] = m.Amount
	}
	return nil
}
