// Package answer is what a plan came to: a table of options, the chance that
// addresses run out by a day, the trade-offs as plots, and a recommendation with
// its reason. Pure functions of the courses.
package answer

import (
	"time"

	"ipamsim/model/capacity"
)

// Plan is a plan as the answer tells it: what was asked, and what came of it.
type Plan struct {
	Name, Title, Story string
	File               string
	Upstream           string // module@version that ran, or whose reference did
	Horizon            time.Duration
	Repeats            int
	Axes               []Axis
	Cells              []Cell
	Require            []Bound
	Minimise           string
	Unknown            []string // what an import could not know, one line each
}

// Axis is one setting with the values that it takes, in order.
type Axis struct {
	Setting string
	Values  []string
}

// Bound is the most that a measure may be.
type Bound struct {
	Measure string
	Most    float64
}

// Cell is one combination of settings with its lives.
type Cell struct {
	Option, Cost        string // "" for a plan without options
	Values              []string
	BlockSize, PoolSize int
	// Lives by repeat: of the engine that answers, and of the real code where both
	// ran. Nil where a point was refused or is not done yet.
	Lives, Real []*capacity.Course
	Engine      string
	Refused     []string // why points were, each reason once, sorted
}
