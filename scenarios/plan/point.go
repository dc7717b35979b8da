package plan

import "ipamsim/model/capacity"

// Cell is one combination of settings.
type Cell struct {
	// Option is the name of the plan's option, "" if it has none. Values are those of
	// the axes, in the order of Axes, as the file writes them.
	Option string
	Values []string
	// Cluster is what the settings come to, without a record and pods of the
	// beginning, which the plan's cells share.
	Cluster capacity.Cluster
	// BlockSize is how many addresses a block has, 0 where there are none; PoolSize
	// how many its pools or ranges have.
	BlockSize, PoolSize int
}

// Point is one trial of one cell. Points are numbered from 0, and a number means the same point in
// every process that has loaded the plan.
type Point struct {
	Cell, Repeat int
	Engine       string // Real or Reference
	Seed         uint64 // of the trace: the same for both engines and, per repeat, for all cells
}

// Done is a point with what came of it: a line of points.json.
type Done struct {
	Point
	Course *capacity.Course `json:",omitempty"`
	// Refused is why the engine cannot answer: capacity.ErrNotModelled, a run that
	// a limit cut short. Such a point is counted and never guessed.
	Refused string `json:",omitempty"`
}
