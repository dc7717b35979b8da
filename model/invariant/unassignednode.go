package invariant

import (
	"cmp"
	"net/netip"
	"time"

	"ipamsim/model"
)

// UnassignedNode is a node whose pods wait forever, because the manager considers ranges as in use
// that no node has: it has not released them.
//
// A manager that could not serve a node retries with exponential back-off up to maxBackOff
// (client-go's rate limiter of work queues). A slice that has just become free may be unused for
// that long. If no node was ever given a slice, there may be no process that assigns them.
var UnassignedNode = define(Invariant{
	Name:     "unassigned-node",
	Severity: model.Major,
	Phase:    Quiescent,
	Doc:      "Once all is calm, no node that is to have a slice of the pods' range goes without one while one is free.",
	Kinds:    []Kind{{"", "{node} has been without a slice of {range}[ since {since}], with {free} of {all} free[ since {free-since}]"}},
	// No write is wrong: the node got nothing.
	Cause:    CauseRule{Start: FromAssigner, Delayed: true},
	Effect:   "no pod can start on the node",
	Decision: "why kube-controller-manager assigns no podCIDR to the node: after a failed attempt, the Node has an event CIDRNotAvailable or CIDRAssignmentFailed",
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	var out []finding
	calm, wait := disturbed(&v), patience
	if v.Truth.At-v.Late < slow {
		wait += slow
	}
	for i := range v.Networks {
		n := &v.Networks[i]
		a := v.Past.assigning[n.Key]
		if a == nil || !a.roomy || !a.handed {
			continue
		}
		r, free, all := scarcest(n, v.Record.Pools)
		for node, since := range a.without {
			from := max(calm, a.room, since)
			if v.Truth.At-from <= wait+min(from-since, maxBackOff) {
				continue
			}
			out = append(out, finding{
				objects: []model.Ref{nodeName(node), networkName(n.Key), rangeName(r.Prefix)},
				facts: []model.Fact{
					model.NewFact("since", since), model.NewFact("free", free), model.NewFact("all", all), model.NewFact("free-since", a.room),
				},
			})
		}
	}
	return out
})

const (
	// patience is longer than a request that is tried three times and hangs each time.
	patience = 4 * time.Minute
	// slow is for a schedule that holds up one message after the other.
	slow = 10 * time.Minute
	// maxBackOff is the limit of workqueue.DefaultControllerRateLimiter.
	maxBackOff = 1000 * time.Second
)

// assigning is how nodes stand with the slices of one network.
type assigning struct {
	without map[string]time.Duration // since when each registered node has none
	roomy   bool                     // there is a slice for another node
	room    time.Duration            // since when
	handed  bool                     // one was given to a node that had none
	some    bool                     // a node has one
}

// Rest makes the last noted state the initial one: the slices that nodes have count as assigned.
func (p *Past) Rest() {
	for _, a := range p.assigning {
		a.handed = a.some
	}
}

// noteSlices records the owners of slices in networks where every node should have one.
func (p *Past) noteSlices(v *View) {
	for i := range v.Networks {
		n := &v.Networks[i]
		if len(n.Ranges) == 0 || n.Ranges[0].Slice == 0 {
			continue
		}
		a := p.assigning[n.Key]
		if a == nil {
			if p.assigning == nil {
				p.assigning = map[string]*assigning{}
			}
			a = &assigning{}
			p.assigning[n.Key] = a
		}
		has := map[string]bool{}
		for j := range v.Record.Pools {
			if pool := &v.Record.Pools[j]; pool.Node != "" && pool.Network == n.Name { // one outside of the ranges is one, too
				has[pool.Node] = true
			}
		}
		a.some = len(has) > 0
		without := map[string]time.Duration{}
		for name, node := range v.Truth.Nodes {
			since, was := a.without[name]
			switch {
			case !node.Registered:
			case has[name]:
				a.handed = a.handed || was
			case was:
				without[name] = since
			default:
				without[name] = v.Truth.At
			}
		}
		a.without = without
		_, free, _ := scarcest(n, v.Record.Pools)
		if roomy := free > 0; roomy != a.roomy {
			a.roomy, a.room = roomy, v.Truth.At
		}
	}
}

// scarcest is the range of a network with the fewest free slices, how many those are, and
// how many there would be if none were in use.
func scarcest(n *model.Network, pools []model.Pool) (r *model.Range, free, all int) {
	for i := range n.Ranges {
		if f, a := FreeSlices(&n.Ranges[i], pools); r == nil || cmp.Less(f, free) {
			r, free, all = &n.Ranges[i], f, a
		}
	}
	return r, free, all
}

// slicesBitsMax is how many there may be: 2^24.
const slicesBitsMax = 24

// FreeSlices counts the slices of a range without an address that is in use or excluded.
// It is a lower bound: what lies in several wider prefixes counts for each.
func FreeSlices(r *model.Range, pools []model.Pool) (free, all int) {
	bits := r.Slice - r.Prefix.Bits()
	if r.Slice == 0 || bits < 0 || bits > slicesBitsMax {
		return 0, 0
	}
	all = 1 << bits
	taken, wide := map[netip.Prefix]bool{}, 0
	take := func(p netip.Prefix) {
		switch {
		case !p.Overlaps(r.Prefix):
		case p.Bits() >= r.Slice:
			taken[netip.PrefixFrom(p.Addr(), r.Slice).Masked()] = true
		default:
			wide += 1 << (r.Slice - max(p.Bits(), r.Prefix.Bits()))
		}
	}
	for _, x := range r.Exclude {
		take(x)
	}
	for i := range pools {
		take(pools[i].Range)
	}
	return max(0, all-len(taken)-wide), all
}
