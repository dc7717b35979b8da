// Package answer computes the result of a plan: a table of options, the chance that addresses
// run out by a day, and a recommendation with its reason. Its functions are pure.
//
// A Question holds the plan and its trials. Of computes the Answer, which is also the form of
// answer.json. Package render writes it as text, Markdown, CSV, plots and a page.
package answer

import (
	"time"

	"ipamsim/model/capacity"
	"ipamsim/reports"
)

// Question is a plan and the results of its trials.
type Question struct {
	Name, Title, Story string
	File               string
	Upstream           string // module@version that ran, or that the reference reproduces
	Horizon            time.Duration
	Repeats            int
	Axes               []Axis
	Cells              []Trials
	Manager            Manager
	Require            []Bound
	Minimise           string
	Unknown            []string // what the import could not determine, one line each
	// From is the scenario or import that the plan starts with; "" if each option is a new
	// cluster.
	From string
	// Repeated counts points that had to run again.
	Repeated reports.Repeated
	// Both: the real code also runs the trials that are small enough for it.
	Both bool
	// Stopped: some points did not run.
	Stopped bool
	// Settings of every point, "name: value", in display order.
	Settings []string
}

// Axis is one setting with the values that it takes, in order.
type Axis struct {
	Setting string   `json:"setting"`
	Values  []string `json:"values"`
	// Given: the user does not choose it, for example load or failures. Each of its values
	// gets a recommendation. Otherwise the values are options.
	Given bool `json:"given,omitempty"`
}

// Bound is the most that a measure may be.
type Bound struct {
	Measure string  `json:"measure"`
	Most    float64 `json:"most"`
}

// Trials is one combination of settings, a cell of the plan, with its trials.
type Trials struct {
	Option, Cost        string // "" for a plan without options
	Values              []string
	BlockSize, PoolSize int
	// Cluster is the cluster that the settings describe. It has the names of blocks and
	// nodes, which are numbered if it is nil.
	Cluster *capacity.Cluster
	// Courses by repeat, of the answering engine and of the real code if both ran. Nil if a
	// point was refused or did not run yet.
	Courses, Real []*capacity.Course
	Engine        string
	Refused       []string // reasons why points were refused, distinct and sorted
}
