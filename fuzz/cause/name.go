package cause

import (
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// Name is the identity of a finding, on one line. It leaves out parts of Key that depend on the
// schedule and the scenario, and adds the manner. Shrinking keeps Signature, which is stricter
// than Name: with Name alone, shrinking could move from one failure to another.
//
// Name leaves out:
//   - the daemon, because its functions identify it. It keeps whether the process was an ADD, a
//     DEL or a daemon, unless the record contradicts itself: then only the function counts;
//   - the request, if several requests of one function of the manager have the same effect: to
//     delete an empty block is a release, and so is to write it. For counters also the function,
//     for operators' tools the request, for panics the function literal;
//   - whether a DEL or a daemon dropped a reservation on release;
//   - whose claim an ADD removed as if it were its own;
//   - whether a deleted pod had already terminated;
//   - the last request of an ADD that returned an address without a claim, and the error that
//     an ADD took for a lack of addresses;
//   - which of several outdated reads decided (see Decided), and whether the read was stale;
//   - the kind of interruption (error, crash or conflict), if the links already show which
//     write was executed, or the record contradicts itself;
//   - whether a DEL failed, did not end or never began. For a DEL that succeeded: what it left,
//     what reconcilers' passes did with it, and which error the DEL ignored;
//   - what earlier passes of reconcilers did before the last one;
//   - which invariant detects that a correct row was overwritten.
func (c *Cause) Name() string {
	rule := rules[c.Invariant].Identity
	parts := []string{c.Invariant, c.code()}
	if len(c.Links) > 0 {
		first := &c.Links[0]
		switch {
		case first.byHand():
			parts = nil
		case first.Role == Crashed: // whatever else the panic prevented
			parts = []string{invariant.ActorCrash.Name}
		case first.Role == Ended && rule.Group == invariant.LeftOver, first.Role == Wrote && rule.Group == invariant.AddressLost && first.Outcome != created && first.Outcome != notReserved:
			parts = []string{string(rule.Group)}
		case rule.Same[0] != "":
			parts = slices.Clone(rule.Same[:])
		}
	}
	for i := range c.Links {
		if l := c.named(&c.Links[i]); l != "" && !slices.Contains(parts, l) {
			parts = append(parts, l)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// named returns what a link contributes to the name, "" if nothing.
func (c *Cause) named(l *Link) string {
	rule := rules[c.Invariant].Identity
	has := func(is func(*Link) bool) bool {
		return slices.ContainsFunc(c.Links, func(o Link) bool { return is(&o) })
	}
	short := Link{Role: l.Role, Process: l.caller(), Verb: l.Verb, Resource: l.Resource, Outcome: l.Outcome, Whose: l.Whose}
	if rule.Innermost && len(l.Functions) > 0 && !l.byHand() {
		short.Functions = l.Functions[:1]
	} else if len(l.Functions) > 0 {
		short.Functions = l.Functions[len(l.Functions)-1:]
	}
	if rule.Function && l.Process != operator {
		short.Process = ""
	}
	if short.Whose == Terminating {
		short.Whose = Deleted
	}
	switch l.Role {
	case Read, Changed:
		return ""
	case Wrote:
		l.released(&short)
	case Crashed:
		short.Functions = enclosing(l.Functions)
	case Refused:
		if c.erred() {
			return (&Link{Role: Refused, Process: short.Process}).same() + " after an error"
		}
	case Handed: // the last request is not the mistake
		short.Verb, short.Resource = "", ""
	case Fault:
		written := c.Links[0].Role == Wrote && !slices.Contains(reads, l.Verb)
		if rule.Function || written || l.Outcome == sim.Stale.String() || c.ignoresError() || c.erred() || has(func(o *Link) bool { return o.Role == Failed }) {
			return ""
		}
		short.Functions = nil
	case Passed:
		if has(func(o *Link) bool { return o.Role == Ended && o.Outcome == delEnded }) ||
			l.Outcome != passEnded && has(func(o *Link) bool { return o.Outcome == passEnded }) {
			return ""
		}
	case Ended:
		if l.Outcome != delEnded {
			return string(Ended) + " without DEL"
		}
		if c.ignoresError() {
			return string(Ended) + " DEL in spite of an error"
		}
	}
	if l.Aside {
		return ""
	}
	switch {
	case rule.Earlier && (l.Role == Refused || l.Role == Wrote && !l.byHand()):
		return ""
	case rule.Counts && len(l.Functions) > 0 && !l.byHand() && c.code() == invariant.CountedTooFew:
		return string(l.Role) // a later, uncounted claim may or may not be counted again
	case rule.Counts && len(l.Functions) > 0 && !l.byHand():
		return (&Link{Role: l.Role, Outcome: l.Outcome}).same()
	}
	return strings.TrimSpace(short.same() + " " + l.Manner)
}

// released removes from short, for a write that releases, the parts that do not identify the
// mistake: the process, the owner or the request.
func (l *Link) released(short *Link) {
	switch {
	case l.byHand() && len(l.Functions) > 0:
		short.Verb, short.Resource, short.Outcome = "", "", ""
	case l.Row == model.RefReservation && l.Outcome == removed:
		short.Process = ""
	case l.Process == "cni-add" && l.Outcome == removed:
		short.Whose = ""
	case strings.HasPrefix(l.Outcome, invariant.HandedOut):
		short.Verb, short.Resource = "", ""
	}
}

// erred reports whether the cause is a call that took an injected error for a lack of addresses.
func (c *Cause) erred() bool {
	return rules[c.Invariant].Identity.AnyError && slices.ContainsFunc(c.Links, func(o Link) bool { return o.Role == Fault && !o.Aside })
}

// ignoresError reports whether the cause is a DEL that left something and ended with success
// though its last request had failed.
func (c *Cause) ignoresError() bool {
	end := &c.Links[0]
	return end.Manner == ignoredError || end.Role == Ended && end.Outcome == delEnded && slices.ContainsFunc(c.Links, func(o Link) bool {
		return o.Role == Fault && !o.Aside && o.Verb == end.Verb && o.Resource == end.Resource && slices.Equal(o.Functions, end.Functions)
	})
}

// reads are the verbs of requests whose error may be taken for an answer.
var reads = []string{"GET", "LIST", "EVENT"}

// caller returns on whose behalf a process works: "cni-add", "cni-del", "operator", "" or, for
// all other processes, "daemon".
func (l *Link) caller() string {
	switch l.Process {
	case "cni-add", "cni-del", operator, "":
		return l.Process
	}
	return "daemon"
}

// byHand reports whether the link is an operator's own write.
func (l *Link) byHand() bool { return l.Role == Wrote && l.Process == operator }
