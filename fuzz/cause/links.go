package cause

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// links returns the chain of the violation, without the races between a read and a write.
func (r *run) links() []Link {
	start := rules[r.v.Invariant].Start
	switch start {
	case invariant.FromPanic:
		return r.crashed()
	case invariant.FromExit:
		return r.exited()
	case invariant.FromRequests:
		if actors := only(r.v.Objects, model.RefActor); len(actors) > 0 && r.v.Code != invariant.Undone {
			return []Link{r.lastOf(Repeats, actors[0].Name, r.v.Step)}
		}
	case invariant.FromAssigner:
		return r.assigner()
	case invariant.FromStatus:
		return r.status()
	case invariant.FromRelease, invariant.FromReleaseOrRefusal:
		if l := r.stays(); l != nil {
			return l
		}
	}
	if start == invariant.FromRefusal || start == invariant.FromReleaseOrRefusal {
		if l := r.refused(); l != nil {
			return l
		}
	}
	return r.wrote()
}

// assigner returns the last pass of the manager's process that assigned an object of this kind
// (for example a node's slice), or the exit of that process if it exited later.
func (r *run) assigner() []Link {
	var st *sim.Step
	i := r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		if c.Row != model.RefPool || !c.Came || c.Step == 0 {
			return false
		}
		st = stepOf(r.rep.Trace, c.Step)
		return st != nil && st.Choice.Op.Actor.Kind() != operator
	})
	if i < 0 {
		return nil
	}
	if out := r.exit(st.Choice.Op.Actor.Kind(), st.Step); out != nil {
		return out
	}
	l := r.link(Passed, st)
	l.Outcome = passEnded
	return []Link{l}
}

// status returns the last write of the pool's status, if any process wrote it.
func (r *run) status() []Link {
	pool := model.Named(r.v.Objects, model.RefPool)
	for _, st := range slices.Backward(r.rep.Trace.Steps) {
		if op := st.Choice.Op; st.Step <= r.v.Step && op.Kind == sim.Write && op.Request != nil && op.Request.Name == pool && op.Request.Subresource == "status" {
			return []Link{r.link(Wrote, st)}
		}
	}
	return nil
}

// wrote returns the last change of the violation's object in the record.
func (r *run) wrote() []Link {
	i, refs := r.lastChange()
	rule := rules[r.v.Invariant].Write
	if rule.Returned {
		// The ADD returned an address that it had never claimed.
		if e := r.returned(); e != nil && !r.claimed(e, i) {
			return r.handed(e)
		}
	}
	if i < 0 {
		return r.found()
	} else if rule.Unmarked { // allocation marks of node ports do not name the Service
		return append(r.found(), r.unmarked(refs)...)
	}
	out := r.by(i, refs)
	switch {
	case out == nil:
	case rule.Outcome != "" && out[0].Role == Wrote:
		out[0].Outcome = rule.Outcome
		if r.inNodePool(i, addresses(r.v.Objects)) {
			out[0].Outcome += ofNode
		}
	case rule.Limit && out[0].Role == Wrote && !r.listed(stepOf(r.rep.Trace, out[0].Step)):
		out[0].Manner = unlisted
	case rule.Route && out[0].Role == Wrote:
		out[0].Manner = r.route(i)
	case rule.Freed && out[0].Outcome == created:
		by, broke := r.freed(i, refs)
		if broke {
			return by
		}
		out = append(out, by...)
	case rule.Unreserved && out[0].Outcome == created:
		if by := r.unreserved(i, refs); by != nil {
			return by
		}
	case rule.Reserves && r.rep.Ledger.Changes[i].Row != model.RefReservation && out[0].Role == Wrote:
		out[0].Outcome = notReserved
	}
	return out
}

// inNodePool reports whether the i-th change is a claim in a pool that belongs to a node: a
// manager that cuts a range into node slices assigns addresses in a different way. If the
// change names no pool, the pool whose range contains the address counts.
func (r *run) inNodePool(i int, addrs []model.Ref) bool {
	l := r.rep.Ledger
	pools := only(l.Changes[i].Refs, model.RefPool)
	j := l.LastOf(l.Changes[i].Step, func(c *model.Change) bool {
		return c.Row == model.RefPool && (c.Names(pools...) || len(pools) == 0 && holds(c, addrs))
	})
	return j >= 0 && len(only(l.Changes[j].Refs, model.RefNode)) > 0
}

// holds reports whether the range of a pool contains one of the addresses.
func holds(pool *model.Change, addrs []model.Ref) bool {
	return slices.ContainsFunc(only(pool.Refs, model.RefBlock), func(o model.Ref) bool {
		of, err := netip.ParsePrefix(o.Name)
		return err == nil && slices.ContainsFunc(addrs, func(a model.Ref) bool {
			addr, err := netip.ParseAddr(a.Name)
			return err == nil && of.Contains(addr)
		})
	})
}

// unreserved returns the link that explains why an address could be claimed in a second pool
// by the i-th change: a reservation would have prevented it. The link is the write that dropped
// the reservation, or the first claim, whose process never reserved the address.
func (r *run) unreserved(i int, addrs []model.Ref) []Link {
	l, before := r.rep.Ledger, r.rep.Ledger.Changes[i].Step-1
	if j := l.Last(before, addrs, model.RefReservation); j >= 0 && l.Changes[j].Gone {
		return r.by(j, addrs)
	} else if j >= 0 {
		return nil
	}
	j := l.Last(before, addrs, model.RefAddress)
	if j < 0 || l.Changes[j].Gone {
		return nil
	}
	out := r.by(j, addrs)
	if len(out) > 0 && out[0].Role == Wrote {
		out[0].Outcome = notReserved
	}
	return out
}

// by returns the message that made the i-th change. refs are the violation's objects in it.
func (r *run) by(i int, refs []model.Ref) []Link {
	c := &r.rep.Ledger.Changes[i]
	if c.Step == 0 {
		return []Link{{Role: Given}}
	}
	st := stepOf(r.rep.Trace, c.Step)
	if st == nil {
		return nil
	}
	l := r.link(Wrote, st)
	switch {
	case l.Process == operator: // an operator's write is deliberate: what it had read does not matter
		return []Link{l}
	case c.Came:
		l.Outcome = created
	case c.Gone:
		l.Outcome = removed
	default:
		l.Outcome = "changed"
	}
	if rules[r.v.Invariant].Identity.Counts {
		l.Outcome = r.tally(i, st, l.Outcome)
	}
	l.Row, l.Knew, l.Whose, l.Saw = c.Row, r.knew(i, refs, st), r.whose(c, st), r.saw(c, st)
	return []Link{l}
}

// Outcomes of a write: it created or removed a row of the record, it claimed an address
// without reserving it first, or it assigned an address from a node's pool.
const (
	created     = "new"
	removed     = "removed"
	notReserved = "not reserved"
	ofNode      = " from a node's pool" // invariant.HandedOut
)

// knew returns what the process of the i-th change had read of the last change of refs by
// another process, "" if there is no such change.
func (r *run) knew(i int, refs []model.Ref, write *sim.Step) Knowledge {
	by := write.Choice.Op
	for j := i - 1; j >= 0; j-- {
		c := &r.rep.Ledger.Changes[j]
		if !c.Names(refs...) {
			continue
		}
		other := stepOf(r.rep.Trace, c.Step)
		if c.Step == write.Step || other != nil && other.Choice.Op.Actor == by.Actor && other.Choice.Op.Incarnation == by.Incarnation {
			continue
		}
		return r.readSince(by, c.Step, write.Step, other)
	}
	return ""
}

// readSince returns what a process had read of another process's write at step changed.
func (r *run) readSince(by sim.Op, changed, write int, other *sim.Step) Knowledge {
	if other == nil || other.Choice.Op.Request == nil {
		return ""
	}
	known := Unread
	for _, st := range r.rep.Trace.Steps {
		op := st.Choice.Op
		switch {
		case st.Step >= write:
			return known
		case op.Actor != by.Actor || op.Incarnation != by.Incarnation || op.Kind != sim.Read && op.Kind != sim.Event || op.Request == nil || !about(op.Request, other.Choice.Op.Request):
		case st.Step > changed:
			return Knew
		default:
			known = Outdated
		}
	}
	return known
}

// lookupOrder lists, for each kind of object, the rows of the record to search. The kinds that
// identify the cause most precisely come first.
var lookupOrder = []struct {
	kind model.RefKind
	rows []model.RefKind
}{
	{model.RefReservation, []model.RefKind{model.RefReservation}},
	{model.RefAddress, []model.RefKind{model.RefAddress}},
	{model.RefHandle, nil},
	{model.RefBlock, []model.RefKind{model.RefBlock, model.RefPool}},
	{model.RefPool, []model.RefKind{model.RefPool}},
	{model.RefNodePort, []model.RefKind{model.RefNodePort}},
	{model.RefContainer, nil},
	{model.RefPod, nil},
	{model.RefNode, []model.RefKind{model.RefBlock, model.RefPool}},
}

// lastChange returns the index in the ledger of the last change, and the violation's objects
// that it is about. The index is -1 if there is no change.
func (r *run) lastChange() (i int, refs []model.Ref) {
	l := r.rep.Ledger
	if r.v.Invariant == invariant.OverlapReservation.Name {
		refs := addresses(r.v.Objects)
		if i := l.Last(r.v.Step, refs, model.RefReservation); i >= 0 {
			return i, refs
		}
	}
	if r.v.Invariant == invariant.UnservedLoadBalancer.Name && r.v.Code != invariant.ClaimNotInStatus {
		// The Service lost the address, though another Service may have been assigned it since.
		refs := addresses(r.v.Objects)
		if i := l.LastOf(r.v.Step, func(c *model.Change) bool { return c.Row == model.RefAddress && c.Gone && c.Names(refs...) }); i >= 0 {
			return i, refs
		}
	}
	blocks, nodes := only(r.v.Objects, model.RefBlock), only(r.v.Objects, model.RefNode)
	// Block and node together select the current owner of the block, not an earlier one.
	if i := l.LastOfBoth(r.v.Step, blocks, nodes, model.RefBlock); i >= 0 && len(addresses(r.v.Objects)) == 0 {
		return i, blocks
	}
	for _, at := range lookupOrder {
		refs := only(r.v.Objects, at.kind)
		var i int
		if start := rules[r.v.Invariant].Start; at.kind == model.RefAddress && (start == invariant.FromRelease || start == invariant.FromReleaseOrRefusal) {
			i = r.lastInPool(refs, at.rows)
		} else {
			i = l.Last(r.v.Step, refs, at.rows...)
		}
		if i >= 0 && rules[r.v.Invariant].Write.Route && at.kind == model.RefAddress {
			// Routes follow blocks, not single addresses.
			blocks := only(l.Changes[i].Refs, model.RefBlock)
			if j := l.LastOf(r.v.Step, func(c *model.Change) bool { return r.routes(c, blocks) }); j > i {
				return j, blocks
			}
		}
		if blocks := only(r.v.Objects, model.RefBlock); i >= 0 && at.kind == model.RefHandle && len(blocks) > 0 {
			// A handle counts per block. Changes after the end of the call are not the call's.
			if j := l.LastOfBoth(r.callEnd(), refs, blocks, model.RefHandle); j >= 0 {
				return r.overcounted(j), refs
			}
		}
		if i >= 0 && at.kind == model.RefAddress {
			return r.taken(i, refs), refs
		}
		if i >= 0 {
			return i, refs
		}
	}
	return -1, nil
}

// callEnd returns the step after which the call ended that the violation names, or the step
// of the violation if it names none.
func (r *run) callEnd() int {
	at, _ := model.FactOf[time.Duration](r.v.Facts, "at")
	pod, ok := model.FactOf[model.Ref](r.v.Facts, "pod")
	for i := r.v.To - 1; i >= 0 && ok; i-- {
		e := &r.rep.History.Events[i]
		if (e.Kind == model.AddEnd || e.Kind == model.DelEnd) && e.At == at && model.PodOf(e.Pod) == pod {
			return e.Step
		}
	}
	return r.v.Step
}

// routes reports whether a change of a block, or of its pool, affects the routes that the
// violation is about: an affinity of a node on the route. Other nodes do not use these routes,
// and an affinity that was removed matters only on the node that has the address.
func (r *run) routes(c *model.Change, blocks []model.Ref) bool {
	nodes := only(r.v.Objects, model.RefNode)
	if on, ok := model.FactOf[model.Ref](r.v.Facts, "on"); ok {
		if nodes = append(nodes, on); c.Gone {
			nodes = []model.Ref{on}
		}
	}
	return c.Names(blocks...) && (c.Row == model.RefPool || c.Row == model.RefBlock && c.Names(nodes...))
}

// refused returns the last failed call for the violation's pods, or on its nodes.
func (r *run) refused() []Link {
	pods, nodes, by := only(r.v.Objects, model.RefPod), only(r.v.Objects, model.RefNode), r.made()
	for i := r.v.To - 1; i >= 0; i-- {
		e := &r.rep.History.Events[i]
		ours := slices.Contains(pods, model.PodOf(e.Pod)) || len(pods) == 0 && slices.Contains(nodes, model.Ref{Kind: model.RefNode, Name: e.Node})
		if len(pods) == 0 && by != "" {
			ours = e.Actor == by
		}
		if ours && e.Err != "" && (e.Kind == model.AddEnd || e.Kind == model.DelEnd) {
			if crash := r.panicked(e.Actor); crash != nil {
				return []Link{*crash}
			}
			l := r.lastOf(Refused, e.Actor, e.Step)
			if r.v.Invariant != invariant.FailedCall.Name && len(l.Functions) > 0 {
				// The call found no free address. The last request before it gave up does not matter.
				l.Verb, l.Resource, l.Functions = "", "", l.Functions[len(l.Functions)-1:]
			}
			return []Link{l}
		}
	}
	return nil
}

func (r *run) crashed() []Link {
	for _, a := range only(r.v.Objects, model.RefActor) {
		if l := r.panicked(a.Name); l != nil {
			return []Link{*l}
		}
	}
	return nil
}

// exited returns the last message of a daemon before it exited with an error.
func (r *run) exited() []Link {
	for _, a := range only(r.v.Objects, model.RefActor) {
		return r.exit(a.Name, 0)
	}
	return nil
}

// exit returns the last message of a daemon before it exited with an error after a step.
func (r *run) exit(daemon string, after int) []Link {
	for i := r.v.To - 1; i >= 0; i-- {
		e := &r.rep.History.Events[i]
		if e.Kind == model.Exited && e.Err != "" && !e.Disturbed && e.Daemon() == daemon && e.Step > after {
			l := r.lastOf(Crashed, e.Actor, e.Step)
			l.Outcome = "exited"
			return []Link{l}
		}
	}
	return nil
}

// panicked returns where a process panicked, nil if it did not.
func (r *run) panicked(actor string) *Link {
	for i := r.v.To - 1; i >= 0; i-- {
		if e := &r.rep.History.Events[i]; e.Kind == model.ActorPanic && e.Actor == actor {
			l := Link{Role: Crashed, Process: sim.ActorID(e.Actor).Kind(), Step: e.Step, Site: model.CrashSite(e.Text)}
			if all := functions(l.Site); len(all) > 0 {
				l.Functions = all[:1] // one line that panics is one cause, whichever function called
			}
			return &l
		}
	}
	return nil
}

// lastOf returns the last message that a process sent up to a step. Leader election is left
// out, because it is not part of the process's work.
func (r *run) lastOf(role Role, actor string, step int) Link {
	steps := r.rep.Trace.Steps
	for i := len(steps) - 1; i >= 0; i-- {
		if op := steps[i].Choice.Op; steps[i].Step <= step && string(op.Actor) == actor && op.Kind != sim.Local && (op.Request == nil || op.Request.Resource != "leases") {
			return r.link(role, steps[i])
		}
	}
	return Link{Role: role, Process: sim.ActorID(actor).Kind()}
}

// link returns a step as a link with a role.
func (r *run) link(role Role, st *sim.Step) Link {
	op := st.Choice.Op
	l := Link{Role: role, Process: op.Actor.Kind(), Step: st.Step, Site: r.rep.CallSite(st)}
	if op.Request != nil {
		l.Verb = cmp.Or(inKubernetes[op.Request.Verb], op.Request.Verb)
		l.Resource = cmp.Or(inKubernetes[op.Request.Resource], op.Request.Resource)
	}
	l.Functions = functions(l.Site)
	return l
}

// inKubernetes maps verbs and resources of Calico's etcd datastore to those of the Kubernetes API.
var inKubernetes = map[string]string{
	"Get": "GET", "List": "LIST", "Create": "POST", "Update": "PUT", "Apply": "PUT", "Delete": "DELETE", "HEAR": "EVENT",
	"block": "ipamblocks", "affinity": "blockaffinities", "handle": "ipamhandles", "ipamconfig": "ipamconfigs",
}

// functions returns the functions that identify where a message was sent: the innermost one,
// and the one by which its package was entered (or its caller, if that is the same function),
// which shows the purpose.
func functions(site model.CallSite) (out []string) {
	if len(site.Frames) == 0 {
		return nil
	}
	entry := site.Entry()
	if by, ok := site.Caller(); ok && entry == site.Frames[0] {
		entry = by
	}
	out = append(out, path.Base(site.Frames[0].Function))
	if entry != site.Frames[0] {
		out = append(out, path.Base(entry.Function))
	}
	return out
}

func stepOf(tr *sim.Trace, n int) *sim.Step {
	i, ok := slices.BinarySearchFunc(tr.Steps, n, func(st *sim.Step, n int) int { return st.Step - n })
	if !ok {
		return nil
	}
	return tr.Steps[i]
}
