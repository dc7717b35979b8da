// Package finding is the result of a search: a class of failure with its shortest known replay.
package finding

import (
	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Finding is one class of failure.
type Finding struct {
	// Fingerprint is a hash of Cause: 12 hexadecimal digits.
	Fingerprint string
	Invariant   string
	Severity    model.Severity
	Died        bool        // the worker process died or hung: the file has no schedule to replay
	Upstream    string      // module@version
	Cause       cause.Cause // why it happened
	Sentence    string      // what happened, in words
	// Also are the other invariants that the cause broke, sorted. For a shrunk finding they are
	// those of the whole run, as if it had not ended at the violation; for a run as recorded,
	// those that broke at the same step.
	Also []string
	// The size of the shrunk scenario and schedule.
	Pods, Nodes, Switches, Faults, Steps int
	// Sampled random continuations after the last decision were run, and Failing of them also failed.
	Sampled, Failing int
	ShrinkRuns       int
	ShrinkSeconds    float64
	// Repeated counts the runs that had to be repeated for the recording.
	Repeated reports.Repeated
	YAML     []byte // the file, which replays on its own
	Real     Real   // the result with Kubernetes' own controllers

	managers scenarios.Managers
}

// Scenario parses the file, in the process in which the finding was made.
func (f *Finding) Scenario() (*scenarios.Scenario, error) {
	return f.managers.Parse(File(f.Fingerprint), f.YAML)
}

// SwitchesMax is the number of forced switches that a reader can follow. With more, the cause's races
// are not tried.
const SwitchesMax = 8

// Crowded reports whether more than SwitchesMax switches are left: another instance of
// the same failure may need fewer.
func (f *Finding) Crowded() bool { return f.Switches > SwitchesMax }
