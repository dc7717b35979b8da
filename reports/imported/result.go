// Package imported writes the findings of ipamsim import for other programs: as JSON, which is
// also the format of the stored last result, as SARIF and as metrics.
package imported

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"ipamsim/model"
)

// Format is the version of the result format. Read rejects others; fields may be added.
const Format = "ipamsim.dev/import/v1"

// Result holds the findings in a cluster. Empty lists are [] in JSON, not null.
type Result struct {
	Format string `json:"format"`
	// Name is the scenario's name. Sources lists the files or the API server read.
	Name    string   `json:"name"`
	Sources []string `json:"sources"`
	// Anonymised: names are random and differ between imports.
	Anonymised bool      `json:"anonymised"`
	Managers   []Manager `json:"managers"`
	Nodes      int       `json:"nodes"`
	Pods       int       `json:"pods"`
	Addresses  int       `json:"addresses"` // in use
	Verdict    Verdict   `json:"verdict"`
	// Findings, the most severe first.
	Findings []Finding `json:"findings"`
	// Supposed lists what would be wrong under the assumptions made for missing objects. They
	// are not findings.
	Supposed []Finding `json:"supposed"`
	// Since compares with an earlier result; null if there is none.
	Since *Since `json:"since"`
	// Unjudged lists what cannot be judged because objects are missing.
	Unjudged []Unjudged `json:"unjudged"`
	Versions []Version  `json:"versions"` // of the managers, if known
	// Borrowed lists addresses that a node has from another node's block, which is no violation
	// by itself.
	Borrowed []Borrowed `json:"borrowed"`
	// NearlyFull lists the ranges of podCIDRs and of Services with at most a tenth free.
	NearlyFull []Range `json:"nearlyFull,omitempty"`
	// Unknown lists what could not be determined, with the assumption made; Left lists what was
	// omitted. Sentences.
	Unknown []string `json:"unknown"`
	Left    []string `json:"left"`
}

// Exhausted is the name of findings about pods and nodes that wait because no address is free. No
// manager causes that, so it is not an invariant.
const Exhausted = "exhausted"

// Verdict is the overall result of an import.
type Verdict string

// The verdicts.
const (
	Wrong     Verdict = "wrong"
	Healthy   Verdict = "healthy"
	Undecided Verdict = "undecided" // no findings, but not everything could be judged
)

// Manager is an address manager of the cluster.
type Manager struct {
	Name      string `json:"name"`                // calico, whereabouts
	Datastore string `json:"datastore,omitempty"` // Calico's: etcdv3, kubernetes
}

// Unjudged is a question that the objects read do not answer.
type Unjudged struct {
	What       []string `json:"what"`                 // invariants; recreation: which controller re-creates a pod
	Without    []string `json:"without"`              // the missing resources, by their full names
	Namespaces []string `json:"namespaces,omitempty"` // affected namespaces; none: the whole cluster
}

// Version is the version of a program in the cluster.
type Version struct {
	Program   string `json:"program"`
	Found     string `json:"found"`
	Simulated string `json:"simulated"`
}

// Finding is one violated invariant.
type Finding struct {
	model.Identity
	Severity model.Severity `json:"severity"`
	// New: not in the earlier result; false if there is none.
	New bool `json:"new"`
	// Message is a sentence; Facts holds the same as data.
	Message string       `json:"message"`
	Facts   []model.Fact `json:"facts"`
	// Places lists where its objects were read, if known.
	Places []Place `json:"places"`
	Remedy *Remedy `json:"remedy"` // null if unknown
}

// Place is the source of an object.
type Place struct {
	Object string `json:"object"` // KIND NAME or KIND NAMESPACE/NAME, with Kubernetes' kinds
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"` // from 1; absent for an API server
}

// Remedy is what an operator can do about a finding. Commands are shell commands.
type Remedy struct {
	// Problem groups findings with one remedy, whose steps are run once. 0: no remedy was
	// tried.
	Problem int    `json:"problem,omitempty"`
	Check   string `json:"check,omitempty"` // a command that confirms the finding
	Status  Status `json:"status,omitempty"`
	// Steps, in order; only if Status is Safe.
	Steps []Step `json:"steps,omitempty"`
	// Seconds is the virtual time that the steps took in simulation. Restarted lists the pods
	// that get new addresses, NAMESPACE/NAME.
	Seconds   float64  `json:"seconds,omitempty"`
	Restarted []string `json:"restarted,omitempty"`
	Cautions  []string `json:"cautions,omitempty"` // what the simulation does not cover; sentences
	Advice    string   `json:"advice,omitempty"`   // which controller should have fixed it; a sentence
	Why       []string `json:"why,omitempty"`      // why there are no steps; sentences
	Decide    string   `json:"decide,omitempty"`   // what the operator has to decide
}

// Step is one step of a remedy.
type Step struct {
	Text     string   `json:"text"`
	Commands []string `json:"commands,omitempty"` // none if the step is to wait
}

// Status is the result of simulating a remedy.
type Status string

// The results of simulating a remedy.
const (
	Safe     Status = "simulated" // the finding disappears, nothing new is violated, no other pod loses its address
	With     Status = "with"      // the finding disappears with the steps of another problem
	Itself   Status = "itself"    // the finding disappears without any step
	NotSafe  Status = "none-safe" // the known remedies were simulated and failed
	NotActed Status = "not-acted-out"
)

// Commands returns the commands of all steps.
func (r *Remedy) Commands() (out []string) {
	for i := range r.Steps {
		out = append(out, r.Steps[i].Commands...)
	}
	return out
}

// Borrowed is an address that a node has from another node's block.
type Borrowed struct {
	Address string `json:"address"`
	Node    string `json:"node"`
	Owner   string `json:"owner,omitempty"` // of the block; absent: none
	Pod     string `json:"pod,omitempty"`
}

// Range is a nearly full range.
type Range struct {
	Range string `json:"range"`
	Slice int    `json:"slice,omitempty"` // prefix length of its podCIDRs; absent: a range of Services
	Taken int    `json:"taken"`           // podCIDRs, or addresses
	Most  int    `json:"most"`
}

// Worse reports whether there is a finding of at least this severity; a new one if onlyNew.
func (r *Result) Worse(least model.Severity, onlyNew bool) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Severity.Rank() <= least.Rank() && (f.New || !onlyNew)
	})
}

// unjudged reports whether an invariant could not be judged everywhere.
func (r *Result) unjudged(name string) bool {
	return slices.ContainsFunc(r.Unjudged, func(u Unjudged) bool { return slices.Contains(u.What, name) })
}

// JSON writes a result as one indented object with a final newline. The same result gives the
// same bytes.
func JSON(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Bounds of the input of Read.
const (
	bytesMax    = 256 << 20
	findingsMax = 1_000_000
)

// Read reads the output of JSON. Its error is one line.
func Read(r io.Reader) (*Result, error) {
	d := json.NewDecoder(io.LimitReader(r, bytesMax))
	out := &Result{}
	if err := d.Decode(out); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("unexpected end of input")
		}
		return nil, fmt.Errorf("not a result of ipamsim import --json: %w", err)
	}
	switch _, err := d.Token(); {
	case out.Format != Format:
		return nil, fmt.Errorf("format: want %q, have %q: not a result of ipamsim import --json", Format, out.Format)
	case !errors.Is(err, io.EOF):
		return nil, errors.New("trailing data: want one result of ipamsim import --json")
	case len(out.Findings) > findingsMax:
		return nil, fmt.Errorf("findings: %d, want at most %d", len(out.Findings), findingsMax)
	}
	for i := range out.Findings {
		f := &out.Findings[i]
		if f.Invariant == "" || len(f.Objects) == 0 || f.Severity.Rank() < 0 {
			return nil, fmt.Errorf("findings[%d]: want invariant, severity and objects", i)
		}
	}
	return out, nil
}
