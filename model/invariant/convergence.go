package invariant

import (
	"maps"
	"slices"
	"time"

	"ipamsim/model"
)

// Codes of Convergence.
const (
	unclaimedAddress    = "unclaimed-address"             // a sandbox has it, without a claim
	claimedForAnother   = "claimed-for-another-container" // of the pod, which is alive as well
	claimOutlived       = "claim-outlived"                // the claim's container does not have the address
	tunnelClaimOutlived = "tunnel-claim-outlived"         // the claim's node is gone
	ownerLost           = "owner-lost"                    // the claim names no owner, so that no process can release it
	DeleteFails         = "delete-fails"                  // and fails again, so that the sandbox stays
	podWithoutAddress   = "pod-without-address"           // although there is room
)

// Convergence is the promise of every reconciler: after a few undisturbed rounds record and truth
// agree. Differences that the manager cannot know or fix do not count: claims of pods on
// unreachable nodes, pods without room in the pools that they request, and pods that were refused
// certain addresses.
var Convergence = define(Invariant{
	Name:     "convergence",
	Severity: model.Major,
	Phase:    Quiescent,
	Doc:      "Once all is calm, every address in use is claimed, every claim is in use, and every pod for which there is room has its addresses.",
	Kinds: []Kind{
		{unclaimedAddress, "after convergence {pod} on {node} has {address} in network {network}[ since {since}], but no claim records it"},
		{claimedForAnother, "after convergence {pod} on {node} has {address} in network {network}[ since {since}], and the claim is for container {claimed-for} of that name"},
		{claimOutlived, "after convergence {address} is still claimed in[ block {block}][ pool {pool}] for {pod} (container {claimed-for}), which does not have it"},
		{tunnelClaimOutlived, "after convergence {address} is still claimed in[ block {block}][ pool {pool}] for the tunnel of {node}, which does not have it"},
		{ownerLost, "after convergence {address} is still claimed in[ pool {pool}] of {node}, and its owner was never written or is lost: no DEL releases it"},
		{DeleteFails, "after convergence the DEL of {pod} on {node} (container {container}) still fails: {error}"},
		{podWithoutAddress, "after convergence {pod} on {node} is still {phase}, without {missing}, though addresses are free"},
	},
	Cause: CauseRule{Start: FromReleaseOrRefusal, Identity: Identity{Group: LeftOver}},
	Follows: []string{
		"duplicate-address", "failed-call", "handle-count", "leaked-claim", "leftover-handle", "overlap-reservation",
		"stuck", "unbacked-sandbox", "unreleased-claim",
	},
}, func(v View) []finding {
	if deserted(&v) {
		return nil
	}
	return slices.Concat(unclaimed(v), unowned(v), torn(v), notGone(v), notRunning(v))
})

// unclaimed lists the addresses without a claim. A sandbox whose DEL is under way at the end of the
// run is about to lose its address.
func unclaimed(v View) []finding {
	var out []finding
	for _, h := range unbacked(v) {
		if !leaving(&v, h.sandbox) {
			out = append(out, unbackedFinding(&v, h))
		}
	}
	return out
}

// unowned lists the claims without an owner. Unlike a leak, such a claim has no grace period except
// the time that a request of its container may be under way. A live container does not own an
// address that it does not have: an ADD that was retried and claimed twice leaves such a claim. If
// passes reconcile, one must have begun and ended since. A claim of a pod on an unreachable node
// has the grace period of a leak, from the deletion of the pod.
func unowned(v View) []finding {
	if behind(&v) {
		return nil
	}
	pass := passing(&v)
	var out []finding
	o := owners(&v)
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		lost := v.Past.lost(&v, c)
		if last := max(lastOf(&v, claimant(c)), lost); last >= pass || v.Truth.At-last <= young || anonymous(c) || o.owned(&v, c) || o.held.container(c) || !o.live[c.Container] && v.deletes(c.Container) {
			continue
		}
		if lost > 0 && v.Truth.At-lost <= v.Settings.LeakAfter {
			continue
		}
		code := claimOutlived
		if c.Tunnel {
			code = tunnelClaimOutlived
		}
		out = append(out, finding{
			code:    code,
			objects: claimObjects(&v, c),
			facts:   claimFacts(c),
		})
	}
	return out
}

// torn lists the claims that no process can release. An ADD that is under way on their
// node may be about to write the owner.
func torn(v View) []finding {
	var out []finding
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		adds := func(b model.Busy) bool { return !b.Del && b.Node == c.Node }
		if !c.Torn || !v.Truth.Nodes[c.Node].Healthy() || slices.ContainsFunc(slices.Collect(maps.Values(v.Truth.Busy)), adds) {
			continue
		}
		out = append(out, finding{code: ownerLost, objects: []model.Ref{model.AddressOf(c.Addr), place(&v, c), nodeName(c.Node)}})
	}
	return out
}

// notGone lists the sandboxes that are stopped and stay, with their claims and their
// pods, because DEL fails again and again although all is calm. As for an ADD, two
// failures in a row, the last a moment ago, are no accident.
func notGone(v View) []finding {
	var out []finding
	for i := range v.Truth.Sandboxes {
		s := &v.Truth.Sandboxes[i]
		if !s.Stopped || v.History == nil || !v.Truth.Nodes[s.Node].Healthy() {
			continue
		}
		if e, failed := v.History.Deleted(s.Pod); failed > 1 && e.Container == s.ID && v.Truth.At-e.At <= young {
			out = append(out, finding{
				code:    DeleteFails,
				objects: []model.Ref{model.PodOf(s.Pod), nodeName(s.Node), containerName(s.ID)},
				facts:   []model.Fact{model.NewFact("error", e.Err)},
			})
		}
	}
	return out
}

// container reports whether the claim's container has its address.
func (h *held) container(c *model.Claim) bool {
	for i := h.of(c.Addr); i >= 0; i = h.list[i].same {
		if h.list[i].sandbox.ID == claimant(c) {
			return true
		}
	}
	return false
}

// notRunning lists the pods that should have addresses and do not.
func notRunning(v View) []finding {
	var out []finding
	all := waiting(&v)
	for i := range all {
		w := &all[i]
		full := func(network string) bool {
			return model.FreeOf(v.Networks, v.Record, network, w.Node, askedPools(&v, w.ref)) < w.needs(&v, all, network)
		}
		if !w.excused && !slices.ContainsFunc(w.missing, full) {
			out = append(out, w.finding())
		}
	}
	return out
}

// waiter is a pod that has not got every address yet.
type waiter struct {
	model.Pod
	ref     model.PodRef
	wants   int      // how many times it is to be attached, those included that it has
	missing []string // networks; one that it lacks twice stands here twice
	excused bool     // it need not have got them yet
}

// needs returns the number of free addresses of a network that guarantees that a pod gets one.
//
// A pod that wants a single address gets it if one is free: with five waiting pods and four free
// addresses the pods before it have been served, so four must not wait. But two pods that want two
// addresses each, of three, may block each other forever, because each releases what it has. So a
// pod that wants several needs room for all waiting pods, and no pod can rely on the addresses that
// such a pod wants.
func (w *waiter) needs(v *View, all []waiter, network string) int {
	n := 0
	for i := range all {
		if other := &all[i]; w.wants > 1 || other.wants > 1 {
			for _, key := range other.missing {
				if rivals(v, key, network) {
					n++
				}
			}
		}
	}
	if w.wants == 1 {
		n++
	}
	return n
}

// rivals reports whether two networks may hand out one and the same address.
func rivals(v *View, a, b string) bool {
	if a == b {
		return true
	}
	m, n := model.NetworkByKey(v.Networks, a), model.NetworkByKey(v.Networks, b)
	return slices.ContainsFunc(m.Ranges, func(r model.Range) bool {
		return slices.ContainsFunc(n.Ranges, func(q model.Range) bool { return r.Prefix.Overlaps(q.Prefix) })
	})
}

func waiting(v *View) []waiter {
	var out []waiter
	attached, busy := attachments(v), busyPods(v, anyCall)
	for ref, pod := range v.Truth.Pods {
		if !startable(v, pod) {
			continue
		}
		w := waiter{Pod: pod, ref: ref, excused: asked(v, ref) || moving(v, ref, pod.Since, busy)}
		for _, key := range pod.Networks {
			if model.NetworkByKey(v.Networks, key) == nil {
				continue // of another manager
			}
			w.wants++
			if has := (wish{ref, pod.UID, key}); attached[has] > 0 {
				attached[has]--
			} else {
				w.missing = append(w.missing, key)
			}
		}
		if len(w.missing) > 0 { // the rest is its kubelet's
			out = append(out, w)
		}
	}
	return out
}

// asked reports whether a pod waits for certain addresses: others do not help it, and only
// its owner can change that.
func asked(v *View, p model.PodRef) bool {
	e := lastAdd(v, p)
	return e != nil && e.Asked
}

// askedPools are the pools that a pod waits for; none: any.
func askedPools(v *View, p model.PodRef) []string {
	if e := lastAdd(v, p); e != nil {
		return e.Pools
	}
	return nil
}

// lastAdd is the end of a pod's last ADD, nil if none has ended.
func lastAdd(v *View, p model.PodRef) *model.Event {
	if v.History == nil {
		return nil
	}
	e, _ := v.History.Added(p)
	return e
}

// moving reports whether a pod makes progress, even slowly. The messages of its kubelet may take
// any time, and this is not the manager's fault: the kubelet may not have called the plugin yet
// since the pod was bound, or since the last call failed, the sandbox ended, or an address became
// free (before that the refusal was correct).
//
// Only a pod whose calls, ADDs or DELs, were refused twice in a row, the last time a moment ago or
// with the next one under way, makes no progress: a kubelet creates no new sandbox before the DEL
// of the last one has succeeded.
//
// A longer time without a call is never the fault of the manager: a call that hangs is under way.
func moving(v *View, p model.PodRef, bound time.Duration, busy map[model.PodRef]bool) bool {
	if v.History == nil {
		return busy[p]
	}
	again := func(e *model.Event, failed int) bool {
		return e != nil && e.At >= bound && failed >= 2 && (busy[p] || v.Truth.At-e.At <= young)
	}
	del, undone := v.History.Deleted(p)
	if again(del, undone) {
		return false
	}
	add, failed := v.History.Added(p)
	return !again(add, failed) || add.Exhausted && add.MinFree == 0
}

// young is how long a pod may take on its way up, with room and with nothing wrong:
// the next one of a Job may have come a moment ago. It is the longest time for which
// a strategy holds a message.
const young = 30 * time.Second

// startable reports whether a pod should be running by now, if it has room.
func startable(v *View, p model.Pod) bool {
	node, ok := v.Truth.Nodes[p.Node]
	return ok && v.Truth.At-p.Since > young && node.Healthy() && node.Registered && !p.Deleting && p.Phase != "Succeeded" && p.Phase != "Failed"
}

func (w waiter) finding() finding {
	facts := []model.Fact{model.NewFact("phase", w.Phase)}
	for _, key := range w.missing {
		facts = append(facts, model.NewFact("missing", networkName(key)))
	}
	return finding{code: podWithoutAddress, objects: []model.Ref{model.PodOf(w.ref), nodeName(w.Node)}, facts: facts}
}

// wish is one network that one pod object wants.
type wish struct {
	pod     model.PodRef
	uid     string
	network string
}

// attachments counts what live sandboxes have of each wish.
func attachments(v *View) map[wish]int {
	m := make(map[wish]int, 2*len(v.Truth.Sandboxes))
	for i := range v.Truth.Sandboxes {
		s := &v.Truth.Sandboxes[i]
		for j := range s.Attachments {
			m[wish{s.Pod, s.UID, s.Attachments[j].Network}]++
		}
	}
	return m
}
