// Package reports is the outcome of a run, and what fits on a line or in a table of it:
// pure functions of a Report.
package reports

import (
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/model/metric"
	"ipamsim/model/recording"
	"ipamsim/sim"
)

// Verdict is what a run proved. A run that a limit cut short proved nothing.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Unknown Verdict = "unknown"
)

// Idle is an action of the timeline without effect, or faults that no message of the run
// could meet.
type Idle struct {
	At   time.Duration `json:"at"` // virtual
	What string        `json:"what"`
	Why  string        `json:"why"`
}

// Report is the outcome of one run of one scenario.
type Report struct {
	Scenario    string
	Title       string   // the scenario's one-line description
	Story       string   // what the scenario shows and why, in paragraphs
	File        string   // where it was read from
	Upstream    string   // module@version, and what of ours ran in its place
	References  []string // processes of our own that stand where upstream's would
	Datastore   string   // where the manager kept its record, if it has a choice
	Seed        uint64
	Strategy    string
	Instant     time.Duration `json:",omitzero"` // see sim.Options
	Store       string
	Verdict     Verdict
	Reason      string // why the verdict is Unknown
	Virtual     time.Duration
	Wall        time.Duration
	Calls       int // requests to the API server, of every process
	Digest      string
	StoreDigest string
	Foreign     uint64   // wake-ups from outside the bubble; not 0 means the run may not repeat
	Repeated    Repeated // runs that were done again before this one counted
	Violations  []model.Violation
	Upstreams   []sim.ActorID // the processes that were the address manager's, sorted
	Used        model.Usage
	States      []uint64 // the kinds of situations it was in, sorted: see model.State

	// Idle is what was to happen and did not. The run proves nothing without it.
	Idle []Idle

	// Expected and Allowed are the invariants the scenario says will, or may, be
	// violated; Explicit is false if it says nothing.
	Expected, Allowed []string
	Explicit          bool
	// Found is what was wrong in the cluster before the run, of a scenario that was
	// imported: no news. Nil: it was not imported.
	Found []model.Identity
	// AtEnd is what was wrong when such a run ended. Nil: nobody looked.
	AtEnd []model.Violation
	// Exact: the run is the one the scenario's expectation is about (its own seed
	// and strategy), so an expected violation that is missing counts.
	Exact bool
	// Controllers are those of the run if they were not the scenario's own: simple or real.
	Controllers string
	// Stopped: the run was ended after a step, as asked, and not judged at rest.
	Stopped bool

	// Series are the metrics of the run, nil if the scenario asks for none. Metrics
	// are the names of those to show, if it names any.
	Series  *metric.Series
	Metrics []string

	// Races are the orders of messages that decide, as a search tried them; nil: nobody did.
	Races []model.Race

	// Ledger is what became of the record, Touched of the truth beside what the history tells.
	Ledger  *model.Ledger `json:"-"`
	Touched []model.Touch `json:"-"`

	// Recording is what everything looked like from step to step, nil if nobody asked for
	// it. Networks are the policies that its addresses are told apart by.
	Recording *recording.Recording
	Networks  []model.Network
	// BlackholeAfter is how long an address may be unreachable while routes spread.
	BlackholeAfter time.Duration

	Trace   *sim.Trace
	History *model.History
	Act     func(detail any) act.Act `json:"-"` // as ipam.Instance's; nil: nobody knows
	// JSON reads a body of an exchange with the API server, as kube.JSON; nil: bodies are JSON.
	JSON func(body []byte) []byte `json:"-"`
	// Sites says where in the manager's own code a message was sent, as ipam.CallSites
	// does; nil: not known of any.
	Sites func(sim.Stack) model.CallSite `json:"-"`
	// CrashSites says where a panic happened, by its stack, as ipam.CrashSites does; nil: not
	// known of any.
	CrashSites func(stack string) model.CallSite `json:"-"`
}

// Faults is how many faults the schedule chose: messages that it hurt, and hazards
// that happened. What the scenario's own timeline does is not among them.
func (r *Report) Faults() (n int) {
	if r.History == nil {
		return 0
	}
	for i := range r.History.Events {
		if r.History.Events[i].Kind == model.FaultEvent {
			n++
		}
	}
	return n
}

// Steps is how many messages were delivered.
func (r *Report) Steps() int {
	if r.Trace == nil {
		return 0
	}
	return len(r.Trace.Steps)
}
