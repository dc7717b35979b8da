// Package finding is what a search hands over: one class of failure with the
// shortest replay known of it.
package finding

import (
	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Finding is one class of failure.
type Finding struct {
	// Fingerprint is 12 hexadecimal digits: of Cause, of nothing else.
	Fingerprint string
	Invariant   string
	Severity    model.Severity
	Died        bool        // the worker process died or hung: the file has no schedule to replay
	Upstream    string      // module@version
	Cause       cause.Cause // why it happened
	Sentence    string      // what happened, for people
	// Also are the other invariants that one cause broke, sorted: in the small world
	// those of the whole run, as if it had not ended at the violation; in a run as it
	// was recorded, those found at the same step.
	Also []string
	// What the shrunk world needs.
	Pods, Nodes, Switches, Faults, Steps int
	// Of Sampled random continuations from its last decision, Failing failed too.
	Sampled, Failing int
	ShrinkRuns       int
	ShrinkSeconds    float64
	// Repeated are the runs that its recording took more than once.
	Repeated reports.Repeated
	YAML     []byte // the file, which replays on its own
	Real     Real   // what came of it under Kubernetes' own controllers

	managers scenarios.Managers
}

// Scenario is what the file holds, in the process in which the finding was made.
func (f *Finding) Scenario() (*scenarios.Scenario, error) {
	return f.managers.Parse(File(f.Fingerprint), f.YAML)
}

// SwitchesMax is how many forced switches of a finding a reader can follow, and how many
// leave its cause to be told by trying.
const SwitchesMax = 8

// Crowded reports whether more than SwitchesMax switches are left: another instance of
// the same failure may need fewer.
func (f *Finding) Crowded() bool { return f.Switches > SwitchesMax }
