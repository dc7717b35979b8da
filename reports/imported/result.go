// Package imported writes what ipamsim import found in a cluster for other programs: as
// JSON, which is also how the last result is kept, as SARIF and as metrics.
package imported

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"ipamsim/model"
)

// Format names the form of a result. A reader refuses others; fields may be added.
const Format = "ipamsim.dev/import/v1"

// Result is what was found in a cluster. All lists are there, if empty.
type Result struct {
	Format string `json:"format"`
	// Name is the scenario's, Sources are the files or the API server that was read.
	Name    string   `json:"name"`
	Sources []string `json:"sources"`
	// Anonymised: names are not those of the cluster, and not the same the next time.
	Anonymised bool      `json:"anonymised"`
	Managers   []Manager `json:"managers"`
	Nodes      int       `json:"nodes"`
	Pods       int       `json:"pods"`
	Addresses  int       `json:"addresses"` // in use
	Verdict    Verdict   `json:"verdict"`
	// Findings are what is wrong, the worst first.
	Findings []Finding `json:"findings"`
	// Supposed are what would be wrong if what is assumed, for lack of objects, were so.
	// They are no findings.
	Supposed []Finding `json:"supposed"`
	// Since compares with an earlier result; null: there is none.
	Since *Since `json:"since"`
	// Unjudged is what cannot be judged for lack of objects.
	Unjudged []Unjudged `json:"unjudged"`
	Versions []Version  `json:"versions"` // of the managers, as far as is known
	// Borrowed are addresses that a node has of another one's block, which breaks nothing
	// by itself.
	Borrowed []Borrowed `json:"borrowed"`
	// NearlyFull are the ranges of podCIDRs and of Services of which at most a tenth is left.
	NearlyFull []Range `json:"nearlyFull,omitempty"`
	// Unknown is what could not be known, and what is assumed instead; Left is what was
	// left out. Sentences.
	Unknown []string `json:"unknown"`
	Left    []string `json:"left"`
}

// Exhausted is the name, among those of invariants, of findings about pods and nodes that wait
// where no address is left. No manager can be blamed for that, so it is no invariant.
const Exhausted = "exhausted"

// Verdict is what a look at a cluster comes to.
type Verdict string

// The verdicts.
const (
	Wrong     Verdict = "wrong"
	Healthy   Verdict = "healthy"
	Undecided Verdict = "undecided" // nothing was found wrong, and not everything could be judged
)

// Manager is an address manager of the cluster.
type Manager struct {
	Name      string `json:"name"`                // calico, whereabouts
	Datastore string `json:"datastore,omitempty"` // Calico's: etcdv3, kubernetes
}

// Unjudged is a question that the objects which were read do not answer.
type Unjudged struct {
	What       []string `json:"what"`                 // invariants; recreation: who makes a pod again
	Without    []string `json:"without"`              // the resources that would answer, by their full names
	Namespaces []string `json:"namespaces,omitempty"` // of whose pods it is so; none: of all the cluster
}

// Version is that of a program in the cluster.
type Version struct {
	Program   string `json:"program"`
	Found     string `json:"found"`
	Simulated string `json:"simulated"`
}

// Finding is one broken invariant.
type Finding struct {
	model.Identity
	Severity model.Severity `json:"severity"`
	// New: it is not in the earlier result; false if there is none.
	New bool `json:"new"`
	// Message is for people; Facts say the same as data.
	Message string       `json:"message"`
	Facts   []model.Fact `json:"facts"`
	// Places are where the objects that it is about were read, as far as is known.
	Places []Place `json:"places"`
	Remedy *Remedy `json:"remedy"` // null where nobody can say
}

// Place is where an object was read.
type Place struct {
	Object string `json:"object"` // KIND NAME or KIND NAMESPACE/NAME, as Kubernetes has it
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"` // from 1; of a list of an API server there is none
}

// Remedy is what an operator can do about a finding. Command lines are for a shell.
type Remedy struct {
	// Problem is the number of what is mended at once: findings of one number have one
	// remedy, and its steps are taken once. 0: none was looked for.
	Problem int    `json:"problem,omitempty"`
	Check   string `json:"check,omitempty"` // tells whether it is so
	Status  Status `json:"status,omitempty"`
	// Steps are there if Status is Safe, to be taken in order.
	Steps []Step `json:"steps,omitempty"`
	// Seconds is how long they took in virtual time when they were acted out, and
	// Restarted are the pods that got other addresses by them, NAMESPACE/NAME.
	Seconds   float64  `json:"seconds,omitempty"`
	Restarted []string `json:"restarted,omitempty"`
	Cautions  []string `json:"cautions,omitempty"` // what acting out cannot show; sentences
	Advice    string   `json:"advice,omitempty"`   // what should have done it by itself; a sentence
	Why       []string `json:"why,omitempty"`      // why there are no steps; sentences
	Decide    string   `json:"decide,omitempty"`   // what the operator has to decide then
}

// Step is one thing that an operator does.
type Step struct {
	Text     string   `json:"text"`
	Commands []string `json:"commands,omitempty"` // none where there is only to wait
}

// Status is what became of a remedy.
type Status string

// What became of it.
const (
	Safe     Status = "acted-out" // it went away, nothing new broke, and no other pod lost its address
	With     Status = "with"      // it goes away with the steps of another problem
	Itself   Status = "itself"    // it goes away whatever anybody does
	NotSafe  Status = "none-safe" // what is known was acted out, and did not pass
	NotActed Status = "not-acted-out"
)

// Commands are the command lines of all steps.
func (r *Remedy) Commands() (out []string) {
	for i := range r.Steps {
		out = append(out, r.Steps[i].Commands...)
	}
	return out
}

// Borrowed is an address that a node has of another one's block.
type Borrowed struct {
	Address string `json:"address"`
	Node    string `json:"node"`
	Owner   string `json:"owner,omitempty"` // of the block; none: nobody
	Pod     string `json:"pod,omitempty"`
}

// Range is one of which little is left.
type Range struct {
	Range string `json:"range"`
	Slice int    `json:"slice,omitempty"` // the prefix length of the podCIDRs that are cut from it; none: it is of Services
	Taken int    `json:"taken"`           // podCIDRs, or addresses
	Most  int    `json:"most"`
}

// Worse reports whether there is a finding that is at least so severe; of those that
// are new only, if onlyNew.
func (r *Result) Worse(least model.Severity, onlyNew bool) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Severity.Rank() <= least.Rank() && (f.New || !onlyNew)
	})
}

// unjudged reports whether an invariant could not be judged everywhere.
func (r *Result) unjudged(name string) bool {
	return slices.ContainsFunc(r.Unjudged, func(u Unjudged) bool { return slices.Contains(u.What, name) })
}

// JSON writes a result as one object, indented, with a newline at its end. The bytes are
// a function of the result.
func JSON(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Bounds of what is read.
const (
	bytesMax    = 256 << 20
	findingsMax = 1_000_000
)

// Read reads what JSON wrote. The error is one line.
func Read(r io.Reader) (*Result, error) {
	d := json.NewDecoder(io.LimitReader(r, bytesMax))
	out := &Result{}
	if err := d.Decode(out); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends too early")
		}
		return nil, fmt.Errorf("not a result of ipamsim import --json: %w", err)
	}
	switch _, err := d.Token(); {
	case out.Format != Format:
		return nil, fmt.Errorf("format: want %q, have %q: not a result of ipamsim import --json", Format, out.Format)
	case !errors.Is(err, io.EOF):
		return nil, errors.New("something follows the result: want one result of ipamsim import --json")
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
