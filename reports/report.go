// Package reports defines the outcome of a run (Report), and renders it on a line or in a table.
// Its functions are pure.
package reports

import (
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/model/metric"
	"ipamsim/model/recording"
	"ipamsim/sim"
)

// Verdict is the result of a run; Unknown if a limit ended it.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Unknown Verdict = "unknown"
)

// Idle is an action of the timeline without effect, or a fault that no message could meet.
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
	File        string   // the file it was read from
	Upstream    string   // module@version, and references that ran instead
	References  []string // reference processes that replace upstream's
	Datastore   string   // the manager's datastore, if it has a choice
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
	Foreign     uint64   // wake-ups from outside the bubble; if not 0 the run may not be reproducible
	Repeated    Repeated // repeats before this run
	Violations  []model.Violation
	Upstreams   []sim.ActorID // the address manager's processes, sorted
	Used        model.Usage
	States      []uint64 // the states it reached, sorted: see model.State

	// Idle lists actions without effect. The verdict is then Unknown.
	Idle []Idle

	// Expected and Allowed list the invariants that the scenario expects or allows to be
	// violated; Explicit is false if it has no expectation.
	Expected, Allowed []string
	Explicit          bool
	// Found lists the violations of an imported cluster before the run. Nil: not imported.
	Found []model.Identity
	// AtEnd lists the violations at the end of such a run. Nil: not checked.
	AtEnd []model.Violation
	// Exact: the run has the scenario's own seed and strategy, so a missing expected violation
	// is a failure.
	Exact bool
	// Controllers is simple or real if it differs from the scenario.
	Controllers string
	// Stopped: the run ended at a requested step, without the checks at the end.
	Stopped bool

	// Series holds the metrics of the run, nil if the scenario requests none. Metrics lists the
	// names to show, if the scenario names any.
	Series  *metric.Series
	Metrics []string

	// Races lists the deciding orders of messages that a search simulated; nil: none simulated.
	Races []model.Race

	// Ledger holds the changes of the records, Touched changes of the cluster that are not in the
	// history.
	Ledger  *model.Ledger `json:"-"`
	Touched []model.Touch `json:"-"`

	// Recording holds the state at each step, nil if not requested. Networks holds the policies
	// that distinguish its addresses.
	Recording *recording.Recording
	Networks  []model.Network
	// BlackholeAfter is how long an address may be unreachable while routes spread.
	BlackholeAfter time.Duration

	Trace   *sim.Trace
	History *model.History
	Act     func(detail any) act.Act `json:"-"` // ipam.Instance.Act; nil: unknown
	// JSON reads a body of an exchange with the API server, as kube.JSON; nil: bodies are JSON.
	JSON func(body []byte) []byte `json:"-"`
	// Sites returns the place in the manager's code that sent a message (ipam.CallSites); nil:
	// unknown.
	Sites func(sim.Stack) model.CallSite `json:"-"`
	// CrashSites returns the place of a panic by its stack (ipam.CrashSites); nil: unknown.
	CrashSites func(stack string) model.CallSite `json:"-"`
}

// Faults counts the faults and hazards that the schedule injected, without the events of the
// scenario's timeline.
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

// Steps counts the delivered messages.
func (r *Report) Steps() int {
	if r.Trace == nil {
		return 0
	}
	return len(r.Trace.Steps)
}
