// Package answer is what a plan came to: a table of options, the chance that
// addresses run out by a day, the trade-offs as plots, and a recommendation with
// its reason. Pure functions of the courses.
//
// A Question is what was asked and what came of it; Of makes the Answer of it, which
// is also the form of answer.json; Text, Markdown and CSV write its table, Page
// draws all of it. Files are all that lies in a plan's directory.
package answer

import (
	"time"

	"ipamsim/model/capacity"
	"ipamsim/reports"
)

// Question is a plan as the answer tells it: what was asked, and what came of it.
type Question struct {
	Name, Title, Story string
	File               string
	Upstream           string // module@version that ran, or whose reference did
	Horizon            time.Duration
	Repeats            int
	Axes               []Axis
	Cells              []Trials
	Manager            Manager
	Require            []Bound
	Minimise           string
	Unknown            []string // what an import could not know, one line each
	// From is the scenario or import that the plan begins with; "" if clusters are built
	// as each option says.
	From string
	// Repeated are points that had to be lived through again.
	Repeated reports.Repeated
	// Both: the real code was to live through what is small enough for it, too.
	Both bool
	// Stopped: points are left to do.
	Stopped bool
	// Settings of every point, "name: value" in the order to tell them.
	Settings []string
}

// Axis is one setting with the values that it takes, in order.
type Axis struct {
	Setting string   `json:"setting"`
	Values  []string `json:"values"`
	// Given: nobody chooses it. It is load or trouble, and a recommendation is made
	// for each of its values; otherwise the values are options.
	Given bool `json:"given,omitempty"`
}

// Bound is the most that a measure may be.
type Bound struct {
	Measure string  `json:"measure"`
	Most    float64 `json:"most"`
}

// Trials is one combination of settings, a cell of the plan, with what came of it.
type Trials struct {
	Option, Cost        string // "" for a plan without options
	Values              []string
	BlockSize, PoolSize int
	// Cluster is what the settings come to: it knows the names of blocks and nodes,
	// which are numbered if it is nil.
	Cluster *capacity.Cluster
	// Courses by repeat: of the engine that answers, and of the real code where both
	// ran. Nil where a point was refused or is not done yet.
	Courses, Real []*capacity.Course
	Engine        string
	Refused       []string // why points were, each reason once, sorted
}
