package remedy

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

// Outcome is the result of a simulated remedy.
type Outcome struct {
	*Remedy
	Took      time.Duration // virtual time from the first step to the last
	Restarted []model.PodRef

	Failed  []Failure
	Stays   []model.Violation // goals that are not reached
	New     []model.Violation // violations that neither existed before nor appear without the remedy
	Lost    []model.PodRef    // pods that lost an address although the remedy does not name them
	Waiting []model.PodRef    // pods without an address before the next step, or at the end
	Missing int               // pods that were not recreated by then
	Full    []netip.Prefix    // blocks that are not empty when they are to be released
	Borrows string            // the node that needed a block and got none; ""

	// Uncovers are findings that a fixed finding had hidden; the remedy does not cause them.
	Uncovers []model.Violation
	// Gone are the findings that the remedy fixed and that would not have gone without it.
	Gone []model.Violation

	end *model.Truth
}

// Safe reports whether the remedy may be printed.
func (o *Outcome) Safe() bool {
	return len(o.Failed)+len(o.Stays)+len(o.New)+len(o.Lost)+len(o.Waiting)+o.Missing+len(o.Full) == 0 && o.Borrows == ""
}

// course is a cluster before a remedy, and the same cluster later without any action.
type course struct {
	before *scenarios.View
	idle   *After
}

// Judge compares the cluster after a remedy with the one before, and with the one that
// results without any action.
func Judge(before *scenarios.View, idle *After, p *Problem, r *Remedy, a *After) *Outcome {
	t := &course{before, idle}
	o := &Outcome{Remedy: r, Took: a.Took, Failed: a.Failed}
	o.end, o.Stays = &a.Sight.Truth, p.left(a)
	end := known(atEnd(a))
	for _, v := range t.fresh(a) {
		if t.hidden(&v) {
			o.Uncovers = append(o.Uncovers, v)
		} else {
			o.New = append(o.New, v)
		}
	}
	left := known(atEnd(t.idle))
	for i := range t.before.Violations {
		if v := &t.before.Violations[i]; !end[identity(v)] && left[identity(v)] {
			o.Gone = append(o.Gone, *v)
		}
	}
	t.pods(o, a)
	if p.Needs != "" && !slices.ContainsFunc(a.Sight.Record.Claims, func(c model.Claim) bool { return c.Pod.Name == probeName && ownBlock(&a.Sight.Record, &c) }) {
		o.Borrows = p.Needs
	}
	return o
}

// left returns the goals that are still violated at the end of a run.
func (p *Problem) left(a *After) (out []model.Violation) {
	if p.Holds != nil {
		if p.Holds(&a.Sight.Truth) {
			return p.Goals
		}
		return nil
	}
	end := known(atEnd(a))
	for i := range p.Goals {
		if g := &p.Goals[i]; end[identity(g)] {
			out = append(out, *g)
		}
	}
	return out
}

// Waiting reports whether one of the pods has no address.
func Waiting(t *model.Truth, pods []model.PodRef) bool {
	has := addresses(t)
	return slices.ContainsFunc(pods, func(p model.PodRef) bool { return len(has[p]) == 0 })
}

// fresh returns the violations of a run that neither existed before nor appear without any
// action. A violation of the same objects with another code is new. A pod without an address
// gets one in any case, but maybe another one, so its violations may differ.
func (t *course) fresh(a *After) []model.Violation {
	before, comes := map[string]bool{}, map[string]bool{}
	for _, all := range [][]model.Violation{t.before.Violations, t.idle.Violations} {
		for i := range all {
			before[all[i].Identity().String()] = true
		}
	}
	had := addresses(&t.before.Truth)
	onItsWay := func(v *model.Violation) (key string, ok bool) {
		pod := model.Named(v.Objects, model.RefPod)
		ns, name, _ := strings.Cut(pod, "/")
		return v.Invariant + " " + pod, pod != "" && len(had[model.PodRef{Namespace: ns, Name: name}]) == 0
	}
	for i := range t.idle.Violations {
		if key, ok := onItsWay(&t.idle.Violations[i]); ok {
			comes[key] = true
		}
	}
	var out []model.Violation
	for i := range a.Violations {
		v := &a.Violations[i]
		if key, ok := onItsWay(v); before[v.Identity().String()] || ok && comes[key] {
			continue
		}
		before[v.Identity().String()] = true
		out = append(out, *v)
	}
	return out
}

// hidden reports whether released claims had hidden a violation: the affinity of a deleted
// node counts as leaked only when nothing is claimed in its block.
func (t *course) hidden(v *model.Violation) bool {
	if v.Invariant != invariant.LeakedAffinity.Name {
		return false
	}
	block, node := model.Named(v.Objects, model.RefBlock), model.Named(v.Objects, model.RefNode)
	return !t.before.Truth.Nodes[node].Registered && slices.ContainsFunc(t.before.Record.Affinities, func(a model.Affinity) bool {
		return a.Node == node && model.BlockOf(a.Block).Name == block
	})
}

// atEnd returns the violations that hold at the end of a run.
func atEnd(a *After) []model.Violation {
	return a.Violations[len(a.Violations)-a.Last:]
}

// ownBlock reports whether a claim lies in a block of its own node.
func ownBlock(r *model.Snapshot, c *model.Claim) bool {
	return slices.ContainsFunc(r.Pools, func(p model.Pool) bool { return p.Name == c.Pool && p.Node == c.Node })
}

// pods compares the addresses of pods before and after. Pods are compared by name: a container
// whose ID is not in the dump has another ID in each run.
func (t *course) pods(o *Outcome, a *After) {
	had, has, idle := addresses(&t.before.Truth), addresses(&a.Sight.Truth), addresses(&t.idle.Sight.Truth)
	for _, p := range slices.SortedFunc(maps.Keys(had), byName) {
		switch {
		case slices.Contains(o.Pods, p):
			o.Restarted = append(o.Restarted, p)
		case !keeps(had[p], has[p]) && keeps(had[p], idle[p]): // the pod would have kept them
			o.Lost = append(o.Lost, p)
		}
	}
	for _, x := range a.shut {
		o.Missing = max(o.Missing, x.missing)
		if x.full.IsValid() {
			o.Full = append(o.Full, x.full)
		}
		for _, p := range x.waiting {
			if !slices.Contains(o.Waiting, p) {
				o.Waiting = append(o.Waiting, p)
			}
		}
	}
}

func byName(a, b model.PodRef) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// keeps reports whether all addresses of before are among those of after.
func keeps(before, after []netip.Addr) bool {
	return !slices.ContainsFunc(before, func(a netip.Addr) bool { return !slices.Contains(after, a) })
}

// addresses returns the addresses of pods with a running sandbox. A node's tunnel is a pod
// without a namespace here.
func addresses(t *model.Truth) map[model.PodRef][]netip.Addr {
	out := make(map[model.PodRef][]netip.Addr, len(t.Sandboxes))
	for i := range t.Sandboxes {
		s := &t.Sandboxes[i]
		for _, a := range s.Attachments {
			if !s.Stopped {
				out[s.Pod] = append(append(out[s.Pod], a.Addrs...), a.Static...)
			}
		}
	}
	return out
}

// identity is the invariant and the objects of a violation, without its code: a violation is
// gone only if no other code has replaced it for the same objects.
func identity(v *model.Violation) string {
	key := []byte(v.Invariant)
	for _, o := range v.Objects {
		key = append(append(append(append(key, 0), o.Kind...), ' '), o.Name...)
	}
	return string(key)
}

func known(lists ...[]model.Violation) map[string]bool {
	out := map[string]bool{}
	for _, all := range lists {
		for i := range all {
			out[identity(&all[i])] = true
		}
	}
	return out
}
