// Package cause determines why an invariant broke, as data: the write, assignment, refusal or
// crash that broke it, the address manager's function, what it had read before, and which
// process had changed that since. Two failures with one cause are one finding, whatever else
// they broke and whichever campaign or datastore they were found in.
package cause

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
)

// Cause is the way from a violation back to what made it.
type Cause struct {
	Invariant string  `json:"invariant"`      // that broke first
	Code      string  `json:"code,omitempty"` // model.Violation.Code of it
	Trigger   Trigger `json:"trigger"`
	Links     []Link  `json:"links"` // from the violation backwards
	// Faulted: something was injected before, or killed.
	Faulted bool `json:"faulted,omitempty"`
}

// Role is what a link has to do with the violation.
type Role string

// The roles.
const (
	Wrote   Role = "wrote"   // the write that broke it
	Given   Role = "given"   // it was so before the first step
	Handed  Role = "handed"  // an ADD returned the address; this is its last message
	Failed  Role = "failed"  // a write of that ADD which failed, and it went on
	Freed   Role = "freed"   // the write that released an address that was still held
	Ended   Role = "ended"   // how the sandbox ended whose record stays; its last message
	Passed  Role = "passed"  // a reconciler's pass that left it so; its last message
	Refused Role = "refused" // an ADD or DEL that failed; its last message
	Repeats Role = "repeats" // what a process asks for again and again
	Crashed Role = "crashed" // a process of the address manager panicked
	Read    Role = "read"    // what the process of the link before had read for it
	Changed Role = "changed" // who changed that between the read and the write
	Fault   Role = "fault"   // what was injected into a process of the address manager

	unannounced Role = "unannounced" // of the text only: a write that was right, but no message announced it
)

// Knowledge is what a process has read of a change that another one made.
type Knowledge string

// What a process may know. "" is that there was no such change.
const (
	Knew     Knowledge = "knew"     // it had read it since, and wrote nevertheless
	Outdated Knowledge = "outdated" // it had read it before, and not since
	Unread   Knowledge = "unread"   // it had never read it
)

// Link is one step on the way.
type Link struct {
	Role     Role   `json:"role"`
	Process  string `json:"process,omitempty"` // its kind: "ip-reconciler"
	Verb     string `json:"verb,omitempty"`    // of the Kubernetes API, in both of Calico's datastores
	Resource string `json:"resource,omitempty"`
	// Outcome is, of Wrote, what became of the row of the record: new, changed, removed, or of
	// a count counted, counted again, counted before a conflict, counted down; of
	// Changed the same of an object, "" if it was there before and after;
	// of Ended how: "DEL failed"; of Fault what the process saw of it: "error".
	Outcome string `json:"outcome,omitempty"`
	// Knew is, of Wrote, what the process had read of what others had written there before.
	Knew  Knowledge `json:"knew,omitempty"`
	Whose Whose     `json:"whose,omitempty"` // of Wrote
	Saw   Saw       `json:"saw,omitempty"`   // of Wrote: part of Key and not of Name, for one fix prevents both
	// Row of the record, of Wrote. Manner is how it was done, as far as that is another mistake:
	// part of Name and not of Key, for the same write looks so or so.
	Row    model.RefKind `json:"row,omitempty"`
	Manner string        `json:"manner,omitempty"`
	// Functions are the address manager's, innermost first, at most two.
	Functions []string `json:"functions,omitempty"`

	// Aside marks what also happened. It is no part of the cause, nor is where it
	// was in the run that shows it.
	Aside bool           `json:"aside,omitempty"`
	Step  int            `json:"step,omitempty"`
	Site  model.CallSite `json:"site,omitzero"`
}

// same are the parts of a link that say which cause it is. What the process knew is none:
// the same mistake happens with an unused address and with one just released.
func (l *Link) same() string {
	process, verb, functions := l.Process, l.Verb, strings.Join(l.Functions, " < ")
	if len(l.Functions) > 0 {
		verb = "" // says no more, and deletion is several requests in one of Calico's datastores
	}
	switch l.Role {
	case Crashed:
		process, verb = "", "" // of any process
	case Changed:
		process, verb, functions = "", "", "" // by whomever
	case Read:
		process, verb, functions = "", l.Verb, "" // one at a time or in a list
	}
	parts := []string{string(l.Role), process, verb, l.Resource, l.Outcome, string(l.Whose), string(l.Saw), functions}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// Key is what is known, on one line: no names, addresses, numbers or words of messages. What an
// operator's own write breaks is that write, whichever invariant sees it.
//
// If any of several consecutive writes may fail, Key records that there was a fault, not which:
// the same without a fault is another mistake.
func (c *Cause) Key() string {
	key := c.key(len(c.Links))
	if c.Faulted && rules[c.Invariant].Identity.Counts && len(c.Links) > 0 && !c.Links[0].byHand() {
		key += ", " + AfterFault
	}
	return key
}

// AfterFault ends Key of a cause that needs a fault or a crash, whichever.
const AfterFault = "after a fault"

// Rest is the part of Key after Signature.
func (c *Cause) Rest() string { return strings.TrimPrefix(c.Key()[len(c.Signature()):], ", ") }

// Signature is the part of Key that is known before a failure is shrunk: the kind of
// violation and the first link, of what stays whose passes left it so, of what was handed
// out which write had failed, and who had given it back.
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

// same is what a link says of the cause. How far a DEL came that did not end says when it
// was interrupted.
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

// Of returns the cause of v in a run that was recorded with its Ledger. It is a function of that
// run alone: which of several things that changed between a read and a write mattered
// needs another run, see Stale.
//
// Where an operator had written what the violation is about, past the address manager,
// that is the cause: what the manager did with it afterwards stands aside.
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

// Apart is Of without regard to an operator's writes.
func Apart(rep *reports.Report, v *model.Violation) *Cause {
	return (&run{rep, first(rep, v)}).apart(v.To)
}

// apart is that of a violation that was seen when so many events had happened.
func (r *run) apart(to int) *Cause {
	c := &Cause{Invariant: r.v.Invariant, Code: r.v.Code, Trigger: triggerOf(r.rep.History, to), Links: r.links(), Faulted: faulted(r.rep.History, to)}
	if len(c.Links) > 0 && c.Links[0].Role != Crashed && c.Links[0].Process != operator {
		c.Links = append(c.Links, r.faults(c.Links)...)
	}
	return c
}

// run is one that broke an invariant, and the violation that is to be explained.
type run struct {
	rep *reports.Report
	v   *model.Violation
}

// first is the earliest violation that led to v, or v.
func first(rep *reports.Report, v *model.Violation) *model.Violation {
	for i := range rep.Violations {
		w := &rep.Violations[i]
		if before(w, v) && slices.Contains(follows[v.Invariant], w.Invariant) && related(rep.Ledger, w, v) {
			return first(rep, w)
		}
	}
	return v
}

// before reports whether violation w began before v. If both begin at the same step and
// each may follow the other, the rules say which is the first.
func before(w, v *model.Violation) bool {
	if w.Step != v.Step || w.From != v.From {
		return w.Step < v.Step || w.Step == v.Step && w.From < v.From
	}
	return rules[w.Invariant].First || !slices.Contains(follows[w.Invariant], v.Invariant)
}

// related reports whether two violations are about the same thing, or one about the
// block that contains the other's address: failures of two addresses of a block differ.
func related(l *model.Ledger, a, b *model.Violation) bool {
	both := func(of, among []model.Ref) bool {
		return slices.ContainsFunc(of, func(o model.Ref) bool { return slices.Contains(among, o) })
	}
	if len(addresses(a.Objects)) > 0 && len(addresses(b.Objects)) > 0 {
		return both(objects(a), objects(b))
	}
	return both(things(l, a), things(l, b))
}

// objects are what a violation is about: addresses, blocks, containers, handles.
func objects(v *model.Violation) (out []model.Ref) {
	for _, o := range v.Objects {
		if slices.Contains([]model.RefKind{model.RefAddress, model.RefBlock, model.RefContainer, model.RefHandle}, o.Kind) {
			out = append(out, o)
		}
	}
	return out
}

// things are its objects, the ranges that it says are given away, as blocks, and the block
// of its address.
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
