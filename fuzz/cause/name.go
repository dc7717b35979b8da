package cause

import (
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// Name is the identity of a finding, on one line. It says less than Key, but for the manner:
// what of the same mistake depends on the schedule and the world is left out. Making small
// keeps Signature, which has more: else it would find its way from one failure to another.
//
// Left out are
//   - which daemon it was: its functions say so; but not whether it was an ADD, a DEL or a
//     daemon, unless the record contradicts itself: then only the function counts;
//   - which of several equal requests of one function of the manager's it was: deleting a
//     block that has become empty is a release as well as writing one is; of what counts, in
//     which function; of a tool, which of its requests; of a panic, in which function literal;
//   - whether a DEL or a daemon that releases as one dropped a reservation;
//   - whose it was that an ADD took away as if it had been its own;
//   - whether a deleted pod was gone yet;
//   - what an ADD asked last that returned what it had not claimed, and which error one took
//     for the lack of addresses;
//   - what was read too late: one of several that were, see Decided; or from a stale replica;
//   - what interrupted it, an error, a crash or a conflict, where the links say already
//     which write was done or was not, or the record contradicts itself;
//   - whether a DEL failed, did not end or never came; of one that succeeded, what it left
//     and what passes of reconcilers made of that, and which error it did not mind;
//   - of what those did who came before, who came last;
//   - which invariant sees that what was right has been overwritten.
func (c *Cause) Name() string {
	rule := rules[c.Invariant].Identity
	parts := []string{c.Invariant, c.code()}
	if len(c.Links) > 0 {
		first := &c.Links[0]
		switch {
		case first.byHand():
			parts = nil
		case first.Role == Crashed: // whatever else it keeps from being done
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

// named is what a link says in the name, "" if nothing.
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
	case Handed: // what it did last is not what it did wrong
		short.Verb, short.Resource = "", ""
	case Fault:
		written := c.Links[0].Role == Wrote && !slices.Contains(reads, l.Verb)
		if rule.Function || written || l.Outcome == sim.Stale.String() || c.inSpite() || c.erred() || has(func(o *Link) bool { return o.Role == Failed }) {
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
		if c.inSpite() {
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
		return string(l.Role) // what is claimed later, uncounted, is counted again or not
	case rule.Counts && len(l.Functions) > 0 && !l.byHand():
		return (&Link{Role: l.Role, Outcome: l.Outcome}).same()
	}
	return strings.TrimSpace(short.same() + " " + l.Manner)
}

// released leaves out of a write by whom and of whom it was taken, or with which request, where
// its function says it.
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

// erred reports whether it is a call that took an error for the lack of addresses, whichever
// that was and whatever it did before it gave up.
func (c *Cause) erred() bool {
	return rules[c.Invariant].Identity.AnyError && slices.ContainsFunc(c.Links, func(o Link) bool { return o.Role == Fault && !o.Aside })
}

// inSpite reports whether it is what a DEL left that ended with success though its last
// message had met an error, whichever that was.
func (c *Cause) inSpite() bool {
	end := &c.Links[0]
	return end.Manner == inSpite || end.Role == Ended && end.Outcome == delEnded && slices.ContainsFunc(c.Links, func(o Link) bool {
		return o.Role == Fault && !o.Aside && o.Verb == end.Verb && o.Resource == end.Resource && slices.Equal(o.Functions, end.Functions)
	})
}

// reads are verbs of requests whose error may be taken for an answer.
var reads = []string{"GET", "LIST", "EVENT"}

// caller is for whom a process works: the ADD or the DEL of a pod, an operator, or none.
func (l *Link) caller() string {
	switch l.Process {
	case "cni-add", "cni-del", operator, "":
		return l.Process
	}
	return "daemon"
}

// byHand reports whether it is an operator's own write.
func (l *Link) byHand() bool { return l.Role == Wrote && l.Process == operator }
