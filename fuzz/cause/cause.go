// Package cause determines why an invariant broke: the write, assignment, refusal or crash
// that broke it, the function of the address manager that did it, what its process had read
// before, and which process had changed that in between. Two failures with the same cause are
// one finding, whatever else they broke and in whichever campaign or datastore they occurred.
package cause

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
)

// Cause is the chain of events that led to a violation.
type Cause struct {
	Invariant string  `json:"invariant"`      // the one that broke first
	Code      string  `json:"code,omitempty"` // its model.Violation.Code
	Trigger   Trigger `json:"trigger"`
	Links     []Link  `json:"links"` // from the violation backwards
	// Faulted: before the violation a fault was injected or a process was killed.
	Faulted bool `json:"faulted,omitempty"`
}

// Role is the relation of a link to the violation.
type Role string

// The roles.
const (
	Wrote   Role = "wrote"   // the write that broke the invariant
	Given   Role = "given"   // the state existed before the first step
	Handed  Role = "handed"  // an ADD returned the address; the link is its last message
	Failed  Role = "failed"  // a write of that ADD that failed without failing the ADD
	Freed   Role = "freed"   // the write that released an address that was still in use
	Ended   Role = "ended"   // how the last call for the sandbox of a left-over object ended; the link is the call's last message
	Passed  Role = "passed"  // a reconciler's pass that did not remove the object; the link is its last message
	Refused Role = "refused" // an ADD or DEL that failed; the link is its last message
	Repeats Role = "repeats" // the request that a process repeats
	Crashed Role = "crashed" // a process of the address manager panicked
	Read    Role = "read"    // what the process of the previous link had read for its write
	Changed Role = "changed" // the change of that object between the read and the write
	Fault   Role = "fault"   // a fault injected into a process of the address manager

	unannounced Role = "unannounced" // in texts only: a correct write that no message announced
)

// Knowledge is what a process had read of another process's change.
type Knowledge string

// The levels of knowledge. "" means that there was no such change.
const (
	Knew     Knowledge = "knew"     // it read the object after the change, and wrote nevertheless
	Outdated Knowledge = "outdated" // it read the object before the change, but not after
	Unread   Knowledge = "unread"   // it never read the object
)

// Link is one event in the chain.
type Link struct {
	Role     Role   `json:"role"`
	Process  string `json:"process,omitempty"` // the kind of process: "ip-reconciler"
	Verb     string `json:"verb,omitempty"`    // of the Kubernetes API, for both of Calico's datastores
	Resource string `json:"resource,omitempty"`
	// Outcome depends on the role. Wrote: what happened to the row of the record ("new", "changed",
	// "removed") or to a count (see tally). Changed: the same for an object, "" if it existed
	// before and after. Ended: how the call ended ("DEL failed"). Fault: what the process
	// observed ("error").
	Outcome string `json:"outcome,omitempty"`
	// Knew, for Wrote, is what the process had read of earlier changes of the row by other processes.
	Knew  Knowledge `json:"knew,omitempty"`
	Whose Whose     `json:"whose,omitempty"` // for Wrote
	Saw   Saw       `json:"saw,omitempty"`   // for Wrote; part of Key but not of Name, because one fix prevents all cases
	// Row, for Wrote, is the kind of the row of the record.
	Row model.RefKind `json:"row,omitempty"`
	// Manner is how the process did it, if another manner would be another mistake. It is
	// part of Name but not of Key, which is the same for every manner.
	Manner string `json:"manner,omitempty"`
	// Functions are the address manager's, innermost first, at most two.
	Functions []string `json:"functions,omitempty"`

	// Aside marks an event that also happened but is no part of the cause. Step and Site, the
	// position in the run, are no part of the cause either.
	Aside bool           `json:"aside,omitempty"`
	Step  int            `json:"step,omitempty"`
	Site  model.CallSite `json:"site,omitzero"`
}

// same returns the parts of a link that identify the cause. Knew is not one of them: the same
// mistake can hit an address that was never used or one that was just released.
func (l *Link) same() string {
	process, verb, functions := l.Process, l.Verb, strings.Join(l.Functions, " < ")
	if len(l.Functions) > 0 {
		verb = "" // the functions identify the request, and a deletion is several requests in one of Calico's datastores
	}
	switch l.Role {
	case Crashed:
		process, verb = "", "" // a panic is the same in any process
	case Changed:
		process, verb, functions = "", "", "" // whichever process made the change
	case Read:
		process, verb, functions = "", l.Verb, "" // GET or LIST
	}
	parts := []string{string(l.Role), process, verb, l.Resource, l.Outcome, string(l.Whose), string(l.Saw), functions}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// Key is the complete cause on one line, without names, addresses, numbers or texts of messages.
// If an operator's own write broke the invariant, Key is that write, whichever invariant
// detects it.
//
// For counters, where a fault of any of several consecutive writes has the same effect, Key
// records that there was a fault, but not which. Without a fault it is another mistake.
func (c *Cause) Key() string {
	key := c.key(len(c.Links))
	if c.Faulted && rules[c.Invariant].Identity.Counts && len(c.Links) > 0 && !c.Links[0].byHand() {
		key += ", " + AfterFault
	}
	return key
}

// AfterFault is the end of the Key of a cause that needs some fault or crash.
const AfterFault = "after a fault"

// Rest is the part of Key after Signature.
func (c *Cause) Rest() string { return strings.TrimPrefix(c.Key()[len(c.Signature()):], ", ") }

// Signature is the part of Key that is known before a failure is shrunk: the kind of violation,
// the first link, and the Passed, Failed and Freed links that directly follow it.
func (c *Cause) Signature() string {
	n := min(1, len(c.Links))
	for n > 0 && n < len(c.Links) && slices.Contains([]Role{Passed, Failed, Freed}, c.Links[n].Role) {
		n++
	}
	return c.key(n)
}

func (c *Cause) key(links int) string {
	parts := []string{c.Invariant, c.code()}
	if links > 0 && c.Links[0].byHand() {
		parts = nil
	}
	for i := range c.Links[:links] {
		if !c.Links[i].Aside {
			parts = append(parts, c.same(&c.Links[i]))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// same returns what a link contributes to Key. The last message of a DEL that did not end is
// left out: it only depends on when the DEL was interrupted.
func (c *Cause) same(l *Link) string {
	short, rule := Link{Role: l.Role, Process: l.Process, Outcome: l.Outcome}, rules[c.Invariant]
	switch {
	case l.Role == Fault && rule.Identity.Counts:
		return "" // see Key
	case l.Role == Refused && rule.Identity.Earlier, l.Role == Ended && l.Outcome != delEnded:
		return short.same()
	case !rule.Identity.Counts || len(l.Functions) == 0 || l.Role == Read || l.Role == Changed:
		return l.same()
	}
	short.Functions = l.Functions[len(l.Functions)-1:]
	return short.same()
}

const operator = "operator"

// Fingerprint is 12 hexadecimal digits of Name.
func (c *Cause) Fingerprint() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(c.Name())))[:12]
}

// Of returns the cause of v in a run that was recorded with its Ledger. Of depends on that run
// alone. Which of several changes between a read and a write mattered needs another run, see
// Stale.
//
// If an operator had written the violation's objects, bypassing the address manager, that
// write is the cause; what the manager did with it afterwards is marked Aside.
func Of(rep *reports.Report, v *model.Violation) *Cause {
	r := &run{rep, first(rep, v)}
	c := r.apart(v.To)
	if len(c.Links) > 0 && (c.Links[0].Role == Crashed || c.Links[0].Process == operator) {
		return c
	}
	operatorWrite := r.operatorWrite()
	if operatorWrite == nil {
		return c
	}
	for i := range c.Links {
		c.Links[i].Aside = true
	}
	c.Links = append([]Link{*operatorWrite}, c.Links...)
	return c
}

// Apart returns the cause as Of does, but ignores an operator's writes.
func Apart(rep *reports.Report, v *model.Violation) *Cause {
	return (&run{rep, first(rep, v)}).apart(v.To)
}

// apart returns the cause of a violation that was detected after the given number of events.
func (r *run) apart(to int) *Cause {
	c := &Cause{Invariant: r.v.Invariant, Code: r.v.Code, Trigger: triggerOf(r.rep.History, to), Links: r.links(), Faulted: faulted(r.rep.History, to)}
	if len(c.Links) > 0 && c.Links[0].Role != Crashed && c.Links[0].Process != operator {
		c.Links = append(c.Links, r.faults(c.Links)...)
	}
	return c
}

// run is a recorded run, and the violation to explain.
type run struct {
	rep *reports.Report
	v   *model.Violation
}

// first returns the earliest violation that led to v, or v.
func first(rep *reports.Report, v *model.Violation) *model.Violation {
	for i := range rep.Violations {
		w := &rep.Violations[i]
		if before(w, v) && slices.Contains(follows[v.Invariant], w.Invariant) && related(rep.Ledger, w, v) {
			return first(rep, w)
		}
	}
	return v
}

// before reports whether violation w began before v. If both began at the same step and each
// may follow the other, the First field of the invariant's rule decides.
func before(w, v *model.Violation) bool {
	if w.Step != v.Step || w.From != v.From {
		return w.Step < v.Step || w.Step == v.Step && w.From < v.From
	}
	return rules[w.Invariant].First || !slices.Contains(follows[w.Invariant], v.Invariant)
}

// related reports whether two violations are about the same object, or one is about the block
// that contains the other's address. Violations of two addresses of a block are not related.
func related(l *model.Ledger, a, b *model.Violation) bool {
	both := func(of, among []model.Ref) bool {
		return slices.ContainsFunc(of, func(o model.Ref) bool { return slices.Contains(among, o) })
	}
	if len(addresses(a.Objects)) > 0 && len(addresses(b.Objects)) > 0 {
		return both(objects(a), objects(b))
	}
	return both(things(l, a), things(l, b))
}

// objects returns the addresses, blocks, containers and handles that a violation is about.
func objects(v *model.Violation) (out []model.Ref) {
	for _, o := range v.Objects {
		if slices.Contains([]model.RefKind{model.RefAddress, model.RefBlock, model.RefContainer, model.RefHandle}, o.Kind) {
			out = append(out, o)
		}
	}
	return out
}

// things returns the violation's objects, the ranges among its facts (as blocks), and the
// block of its address.
func things(l *model.Ledger, v *model.Violation) []model.Ref {
	out := objects(v)
	for _, f := range v.Facts {
		if o, ok := f.Value.(model.Ref); ok && o.Kind == model.RefRange {
			out = append(out, model.Ref{Kind: model.RefBlock, Name: o.Name})
		}
	}
	if i := l.Last(v.Step, addresses(out), model.RefAddress); i >= 0 {
		for _, o := range l.Changes[i].Refs {
			if o.Kind == model.RefBlock {
				out = append(out, o)
			}
		}
	}
	return out
}

func addresses(refs []model.Ref) []model.Ref { return only(refs, model.RefAddress) }

func only(refs []model.Ref, kind model.RefKind) (out []model.Ref) {
	for _, o := range refs {
		if o.Kind == kind {
			out = append(out, o)
		}
	}
	return out
}
