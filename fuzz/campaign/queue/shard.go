package queue

import (
	"fmt"
	"time"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
)

// Kind is the work to do for a shard.
type Kind string

// The kinds of shards.
const (
	Explore Kind = "explore" // run seeds and check them
	Shrink  Kind = "shrink"  // shrink one failure
	Record  Kind = "record"  // record one failure without shrinking
	Canary  Kind = "canary"  // run scenarios that must fail
	Plan    Kind = "plan"    // run points of a plan
)

// Shard is a piece of work for one worker.
type Shard struct {
	Epoch  int // the incarnation of the coordinator that planned the shard
	Kind   Kind
	Source int
	// Explore and Canary: run Runs seeds from From on. Plan: run so many points.
	From, Runs uint64 `json:",omitempty"`
	// Whole: explore all schedules of the source in a fixed order instead of seeds. The results are
	// reported as those of shards of WholeRuns each; the result of the shard itself is the end.
	Whole bool `json:",omitempty"`
	// Shrink and Record: the run of seed From, which fails with Signature.
	Signature string `json:",omitempty"`
	// Time is the limit for shrinking, for Shrink and for Whole; 0 is no limit.
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

// Result is the result of a shard.
type Result struct {
	Shard Shard
	// Done is the number of runs of Shard.Runs that were done: fewer if the campaign ended first.
	Done uint64 `json:",omitempty"`
	// Wall is the time that the worker took.
	Wall    time.Duration
	Steps   int               `json:",omitempty"`
	Sights  Sighted           `json:",omitzero"`
	Unknown int               `json:",omitempty"` // runs cut short by a limit
	Classes map[string]*Class `json:",omitempty"` // failures by signature
	Defects []string          `json:",omitempty"` // runs that show a defect of ipamsim itself
	// Refused is why no run of the source can work: its scenario file is wrong.
	Refused string  `json:",omitempty"`
	Deaths  []Death `json:",omitempty"`
	// Repeated counts runs that had to be repeated.
	Repeated reports.Repeated
	Kept     []Kept  `json:",omitempty"` // findings
	Over     bool    `json:",omitempty"` // Whole: all schedules were explored
	Points   *Points `json:",omitempty"` // Plan: the results of the points that are done
	// Worlds counts the generated scenarios that ran.
	Worlds space.Tally `json:",omitzero"`
}

// Kept is a finding without its files.
type Kept struct {
	Signature string
	*finding.Finding
	Rough bool `json:",omitempty"` // recorded without shrinking, for lack of time
	// Pages are files to store beside the finding's own file, by name.
	Pages map[string][]byte `json:",omitempty"`
	// Objects are the names of its files in the object store, by file name.
	Objects map[string]string `json:",omitempty"`
}

// Class is one kind of failure before shrinking: runs with the same signature.
type Class struct {
	Invariant string
	Severity  model.Severity
	Count     uint64     // runs that failed this way
	Instances []Instance // the shortest few
	// First is the index of the first of these runs in the shard or, after the coordinator has
	// added it, in the campaign; FirstAfter is its time.
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

// InstancesMax is the number of shortest instances from which shrinking chooses.
const InstancesMax = 5

// Death is a run that crashed its worker process.
type Death struct {
	Source    int
	Seed      uint64
	Confirmed bool   // it also crashed alone in a new process
	Cause     string // one line
	Kept      *Kept
	// First and FirstAfter are the index and time of the run, as in Class.
	First      uint64
	FirstAfter time.Duration
}

// Add counts one failing run.
func (c *Class) Add(i Instance) {
	c.Count++
	c.Keep(i)
}

// Keep records an instance if it is among the shortest.
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
