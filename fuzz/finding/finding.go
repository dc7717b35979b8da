// Package finding is what a search hands over: one class of failure with the
// shortest replay known of it.
package finding

import "ipamsim/model"

// Finding is one class of failure.
type Finding struct {
	// Fingerprint is 12 hexadecimal digits: of Invariant and Shape, of nothing else.
	Fingerprint string
	Invariant   string
	Severity    model.Severity
	Upstream    string   // module@version
	Shape       []string // what happened, without names, addresses and seeds; see Shape
	Sentence    string   // what happened, for people
	// What the shrunk world needs.
	Pods, Nodes, Switches, Faults, Steps int
	// Of Sampled random continuations from its last decision, Failing failed too.
	Sampled, Failing int
	ShrinkRuns       int
	ShrinkSeconds    float64
	YAML             []byte // the file, which replays on its own
}
