// Package record is a run as plain data: what a page of it, and Perfetto, are drawn from.
package record

import (
	"net/netip"
	"time"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
)

// Format names the form of a record's file. A reader refuses others.
const Format = "ipamsim.dev/record/v1"

// Record is a run with everything that can be shown of it, as plain data: what a
// page is drawn from, and what a file keeps of a run so that it can be drawn later
// without running it. Times are virtual, in ns since the start of the run.
type Record struct {
	Format     string          `json:"format"`
	Scenario   string          `json:"scenario"`
	Title      string          `json:"title,omitempty"`
	Story      string          `json:"story,omitempty"` // paragraphs
	File       string          `json:"file,omitempty"`
	Upstream   string          `json:"upstream"`
	References []string        `json:"references,omitempty"` // of ours in upstream's place
	Datastore  string          `json:"datastore,omitempty"`
	Seed       uint64          `json:"seed"`
	Strategy   string          `json:"strategy"`
	Store      string          `json:"store"`
	Verdict    reports.Verdict `json:"verdict"`
	Reason     string          `json:"reason,omitempty"` // why it is unknown
	AsExpected bool            `json:"asExpected"`
	Expected   []string        `json:"expected,omitempty"` // invariants
	// Imported: the run begins with a cluster that was read. Gone is what was wrong in it
	// and was no more when the run ended.
	Imported bool             `json:"imported,omitempty"`
	Gone     []model.Identity `json:"gone,omitempty"`
	Virtual  time.Duration    `json:"virtual"`
	Calls    int              `json:"apiCalls"`
	Digest   string           `json:"digest"`
	Command  string           `json:"command"` // shows it again

	Steps      []Step              `json:"steps"`           // by number
	Sites      []model.CallSite    `json:"sites,omitempty"` // in upstream's code, in the order in which they come
	Events     []Event             `json:"events"`          // in order
	Violations []Violation         `json:"violations"`
	Addresses  []Held              `json:"addresses"` // by network, then address
	Ranges     []Range             `json:"ranges,omitempty"`
	Waiting    []string            `json:"waiting,omitempty"` // pods, namespace/name, to which an address was refused to the end
	Screens    []Screen            `json:"screens,omitempty"`
	Recording  recording.Recording `json:"film"`
}

// Step is one message, delivered or hurt.
type Step struct {
	Step    int           `json:"step"`
	At      time.Duration `json:"at"`
	Sent    time.Duration `json:"sent,omitempty"` // when the actor sent it
	Actor   string        `json:"actor"`
	Kind    string        `json:"kind"` // read, write, watch, event, local
	Outcome string        `json:"outcome"`
	Fault   bool          `json:"fault,omitempty"`
	Key     string        `json:"key"`
	Note    string        `json:"note,omitempty"`
	Text    string        `json:"text,omitempty"` // in the address manager's words
	Of      int           `json:"of,omitempty"`   // choices there were, if more than one
	Site    int           `json:"site,omitempty"` // which of Sites sent it, from 1; 0: none that is known
}

// Range is what a network may hand out.
type Range struct {
	Network string         `json:"network"`
	Prefix  netip.Prefix   `json:"prefix"`
	Start   netip.Addr     `json:"start"` // the first and the last, inclusive
	End     netip.Addr     `json:"end"`
	Exclude []netip.Prefix `json:"exclude,omitempty"`
}

// Event is an entry of the history, at the step after which it can be seen:
// what happened between two messages is at the second.
type Event struct {
	Step      int           `json:"step"`
	At        time.Duration `json:"at"`
	Kind      string        `json:"kind"`
	Actor     string        `json:"actor,omitempty"`
	Node      string        `json:"node,omitempty"`
	Pod       string        `json:"pod,omitempty"`
	Container string        `json:"container,omitempty"`
	Addrs     []string      `json:"addrs,omitempty"`
	Failed    bool          `json:"failed,omitempty"` // as reported by upstream
	Why       string        `json:"why,omitempty"`    // reason why a sandbox is gone, for display
	Text      string        `json:"text"`             // one line for display
}

// Violation is a violation with the steps that led to it.
type Violation struct {
	model.Violation
	At       time.Duration   `json:"at"`
	Known    bool            `json:"known,omitempty"` // present before the run: Record.Imported
	Meaning  string          `json:"meaning"`         // the description of the invariant
	Turns    []timeline.Turn `json:"turns"`           // the steps that led to it
	Races    []model.Race    `json:"races,omitempty"` // deciding orders of messages, if simulated
	Timeline string          `json:"timeline"`        // text for a terminal
}

// Held is the history of one address of one network.
type Held struct {
	Network string `json:"network,omitempty"`
	Addr    string `json:"addr"`
	Spans   []Span `json:"spans"` // by start, then kind
}

// SpanKind is the state of an address during a span.
type SpanKind string

// The kinds. Live is the actual state, Claimed the record. The others mark differences between
// them, or several live sandboxes.
const (
	Live       SpanKind = "live"       // a sandbox has it
	Claimed    SpanKind = "claimed"    // the datastore assigns it
	Duplicate  SpanKind = "duplicate"  // two live sandboxes have it
	Unbacked   SpanKind = "unbacked"   // alive, and not claimed by its sandbox
	Leaked     SpanKind = "leaked"     // claimed, and its sandbox is gone
	Blackholed SpanKind = "blackholed" // alive, and some live node cannot reach it
)

// Span is a range of steps, To excluded. To is 0 if it lasts to the end of the run.
type Span struct {
	Kind  SpanKind      `json:"kind"`
	From  int           `json:"from"`
	To    int           `json:"to"`
	Since time.Duration `json:"since"`
	Until time.Duration `json:"until"`
	Pod   string        `json:"pod,omitempty"` // namespace/name
	Node  string        `json:"node,omitempty"`
}

// Screen is what a command of the scenario printed.
type Screen struct {
	Step   int           `json:"step"`
	At     time.Duration `json:"at"`
	Prompt string        `json:"prompt"`
	Output string        `json:"output"`
}
