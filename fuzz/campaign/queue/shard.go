package queue

import (
	"fmt"
	"time"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
)

// Kind says what is to be done with a shard.
type Kind string

// The kinds of shards.
const (
	Explore Kind = "explore" // run seeds and judge
	Shrink  Kind = "shrink"  // make one failure small
	Record  Kind = "record"  // keep one failure as it is
	Canary  Kind = "canary"  // run worlds that must fail
	Plan    Kind = "plan"    // live through points of a plan
)

// Shard is a piece of work for one worker.
type Shard struct {
	Epoch  int // which life of the coordinator asked for it
	Kind   Kind
	Source int
	// Explore and Canary: Runs seeds from From on. Plan: so many points.
	From, Runs uint64 `json:",omitempty"`
	// Whole: Explore all there is, in the one order there is, instead of seeds. The
	// results come as those of shards of wholeRuns each; its own is the end.
	Whole bool `json:",omitempty"`
	// Shrink and Record: the run of From that fails with Signature.
	Signature string `json:",omitempty"`
	// Time to make failures small, of Shrink and of Whole, where 0 is no bound.
	Time time.Duration `json:",omitempty"`
}

// Key identifies a shard within its epoch.
func (s Shard) Key() string {
	if s.Whole {
		return fmt.Sprintf("whole-%d", s.Source)
	}
	if s.Signature != "" {
		return fmt.Sprintf("%s-%s-%d-%d", s.Kind, s.Signature, s.Source, s.From)
	}
	return fmt.Sprintf("%s-%d-%d", s.Kind, s.Source, s.From)
}

// Result is what came of a shard.
type Result struct {
	Shard Shard
	// Done seeds of Shard.Runs: fewer if the campaign ended first.
	Done uint64 `json:",omitempty"`
	// Wall is how long the worker was at it.
	Wall    time.Duration
	Steps   int               `json:",omitempty"`
	Sights  Sighted           `json:",omitzero"`
	Unknown int               `json:",omitempty"` // runs cut short by a limit
	Classes map[string]*Class `json:",omitempty"` // failures by signature
	Defects []string          `json:",omitempty"` // runs of which ipamsim itself is in doubt
	// Refused is why no run of the source can work: its file is wrong.
	Refused string  `json:",omitempty"`
	Deaths  []Death `json:",omitempty"`
	// Repeated are runs that had to be done again.
	Repeated reports.Repeated
	Kept     []Kept  `json:",omitempty"` // findings
	Over     bool    `json:",omitempty"` // Whole: nothing is left
	Points   *Points `json:",omitempty"` // Plan: what came of those that are done
	// Worlds that were drawn and ran.
	Worlds space.Tally `json:",omitzero"`
}

// Kept is a finding without its files.
type Kept struct {
	Signature string
	*finding.Finding
	Rough bool `json:",omitempty"` // nobody had time to make it small
	// Pages are what is to lie beside the finding's own file, by name.
	Pages map[string][]byte `json:",omitempty"`
	// Objects are where its files are in the object store, by name.
	Objects map[string]string `json:",omitempty"`
}

// Class is one kind of failure before shrinking: what the cheap signature of a
// run tells apart.
type Class struct {
	Invariant string
	Severity  model.Severity
	Count     uint64     // runs that failed this way
	Instances []Instance // the shortest few
	// First is the first of these runs: so many runs into the shard, or into the
	// campaign, and so long.
	First      uint64
	FirstAfter time.Duration
}

// Instance is one run that fails.
type Instance struct {
	Source  int
	Seed    uint64
	Steps   int
	Faulted bool
	Follows bool
}

// InstancesMax: shrinking starts from the shortest of so many.
const InstancesMax = 5

// Death is a run that took its process along.
type Death struct {
	Source    int
	Seed      uint64
	Confirmed bool   // it died alone in a fresh process, too
	Cause     string // one line
	Kept      *Kept
	// It was so many runs into the shard, and so long.
	First      uint64
	FirstAfter time.Duration
}

// Add counts one failing run.
func (c *Class) Add(i Instance) {
	c.Count++
	c.Keep(i)
}

// Keep remembers an instance if it is among the shortest.
func (c *Class) Keep(i Instance) {
	at := len(c.Instances)
	for at > 0 && i.less(c.Instances[at-1]) {
		at--
	}
	if at > 0 && c.Instances[at-1] == i {
		return
	}
	c.Instances = append(c.Instances[:at], append([]Instance{i}, c.Instances[at:]...)...)
	c.Instances = c.Instances[:min(len(c.Instances), InstancesMax)]
}

// less: first causes first, then those without a fault, then fewer steps; the rest makes the order total.
func (i Instance) less(j Instance) bool {
	switch {
	case i.Follows != j.Follows:
		return j.Follows
	case i.Faulted != j.Faulted:
		return j.Faulted
	case i.Steps != j.Steps:
		return i.Steps < j.Steps
	case i.Source != j.Source:
		return i.Source < j.Source
	}
	return i.Seed < j.Seed
}
