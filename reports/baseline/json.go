package baseline

import (
	"encoding/json"
	"io"
)

// Summary is an outcome for programs.
type Summary struct {
	Red     bool     `json:"red"`
	Runs    int      `json:"runs"`
	Moved   int      `json:"moved"`   // of the runs whose course is known, those that took another one
	Seconds float64  `json:"seconds"` // by the clock
	Changes []Moving `json:"changes,omitempty"`
}

// Moving is one change of a scenario; of all of a manager's together if Pool.
type Moving struct {
	Scenario   string `json:"scenario"`
	Kind       Kind   `json:"kind"`
	Regression bool   `json:"regression,omitempty"` // it is worse, or was not judged
	What       string `json:"what"`                 // an invariant or a cost
	Pool       bool   `json:"pool,omitempty"`
}

// JSON writes an outcome's Summary.
func JSON(w io.Writer, o *Outcome) error {
	s := Summary{Red: o.Red(), Runs: o.Runs, Moved: o.Moved, Seconds: o.Elapsed.Seconds()}
	for i := range o.Rows {
		for _, c := range o.Rows[i].Changes {
			s.Changes = append(s.Changes, Moving{o.Rows[i].Scenario, c.Kind, c.Regression, c.What, o.Rows[i].Pool})
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(&s)
}
