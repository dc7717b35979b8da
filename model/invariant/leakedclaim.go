package invariant

import (
	"time"

	"ipamsim/model"
)

// Codes of LeakedClaim: the owner that is gone.
const (
	SandboxGone    = "sandbox-gone"
	tunnelNodeGone = "tunnel-node-gone"
)

// LeakedClaim is an address that no pod can use: its container is gone, and the claim was not
// released within the bound. The bound begins with the last event of the container in the history,
// or at 0 for claims from before the run.
//
// A pod object on a node that is down or partitioned keeps its claims: no manager can know that the
// sandbox is gone, and the pod may come back with it. The bound begins when the object is deleted.
// A node's own tunnel address belongs to the node while it is registered. A claim without an owner
// is not checked, nor is any claim in a cluster without a machine that could run a reconciler.
var LeakedClaim = define(Invariant{
	Name:     "leaked-claim",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No claim outlives its sandbox for longer than the scenario's bound.",
	Kinds: []Kind{
		{SandboxGone, "{address} stays claimed in[ block {block}][ pool {pool}] for {pod} (container {claimed-for}), which has no live sandbox[ since {since}]"},
		{tunnelNodeGone, "{address} stays claimed in[ block {block}][ pool {pool}] for the tunnel of {node}, which is not registered[ since {since}]"},
	},
	Cause:   CauseRule{Start: FromRelease, Delayed: true, Identity: Identity{Group: LeftOver}},
	Follows: []string{"handle-count", "unreleased-claim"},
	Effect:  "the address is not assigned again; when no other address is free, pods cannot start",
	Keep:    KeepCollectors,
}, func(v View) []finding {
	if v.Settings.LeakAfter <= 0 || deserted(&v) {
		return nil
	}
	var out []finding
	l := owners(&v)
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		since := max(lastOf(&v, claimant(c)), reachable(&v, c))
		code := SandboxGone
		if c.Tunnel {
			code, since = tunnelNodeGone, max(since, v.Past.registered(c.Node))
		}
		if v.Truth.At-max(since, v.Past.lost(&v, c)) <= v.Settings.LeakAfter || anonymous(c) || l.live[claimant(c)] || l.owned(&v, c) {
			continue
		}
		out = append(out, finding{
			code:    code,
			objects: claimObjects(&v, c),
			facts:   append(claimFacts(c), model.NewFact("since", since)),
		})
	}
	return out
})

// reachable is since when the node can be asked again that the pod object of a claim is
// bound to, or that keeps the claim; 0 for a pod that is gone. A node that was down for
// longer than the bound has not leaked anything at the instant its power is back: the
// kubelet's first DEL is yet to come.
func reachable(v *View, c *model.Claim) time.Duration {
	if kept(c) {
		return v.Truth.Nodes[c.Node].Since
	}
	pod, ok := v.Truth.Pods[c.Pod]
	if !ok || elsewhere(v, c, pod.Node) {
		return 0
	}
	return v.Truth.Nodes[pod.Node].Since
}

// elsewhere reports whether the container of a claim was created on another node: a pod of the same
// name on node is then irrelevant.
func elsewhere(v *View, c *model.Claim, node string) bool {
	if v.History == nil {
		return false
	}
	made := v.History.NodeOf(c.Container)
	return made != "" && made != node
}

func claimObjects(v *View, c *model.Claim) []model.Ref {
	o := []model.Ref{model.AddressOf(c.Addr), place(v, c)}
	if c.Tunnel {
		return append(o, nodeName(c.Node))
	}
	o = append(o, model.PodOf(claimedFor(v, c)))
	if c.Container != "" {
		o = append(o, containerName(c.Container))
	}
	return o
}

// claimedFor is the pod of a claim; if the claim only names a container, the pod for which that was
// created.
func claimedFor(v *View, c *model.Claim) model.PodRef {
	if c.Pod != (model.PodRef{}) || v.History == nil {
		return c.Pod
	}
	return v.History.PodOf(c.Container)
}

// claimFacts are the container of a claim, if it names one.
func claimFacts(c *model.Claim) []model.Fact {
	if c.Tunnel {
		return nil
	}
	return []model.Fact{model.NewFact("claimed-for", containerName(c.Container))}
}

func lastOf(v *View, container string) time.Duration {
	if v.History == nil {
		return 0
	}
	at, _ := v.History.LastOf(container)
	return at
}

// owner determines the possible owners of a claim.
type owner struct {
	live map[string]bool // container ids of live sandboxes
	held held
	adds map[model.PodRef]bool // pods with an ADD under way
}

func owners(v *View) owner {
	return owner{live: liveContainers(v), held: hold(*v), adds: busyPods(v, isAdd)}
}

func liveContainers(v *View) map[string]bool {
	live := make(map[string]bool, len(v.Truth.Sandboxes))
	for i := range v.Truth.Sandboxes {
		live[v.Truth.Sandboxes[i].ID] = true
	}
	return live
}

// deletes reports whether the DEL of a container that does not run is yet to be called again:
// the runtime has the sandbox on record, and the node is well.
func (v *View) deletes(container string) bool {
	node, kept := v.Kept[container]
	return kept && v.Truth.Nodes[node].Healthy()
}

// taking reports whether an ADD of a pod is under way that may take a claim over
// which an earlier container of the pod left, as Whereabouts' does. One that has
// failed since did not; otherwise a pod that is refused again and again would
// never have leaked anything.
func (o *owner) taking(v *View, c *model.Claim) bool {
	if !o.adds[c.Pod] || v.History == nil {
		return o.adds[c.Pod]
	}
	end, failed := v.History.Added(c.Pod)
	return failed == 0 || end.At <= lastOf(v, c.Container)
}

// owned reports whether a claim has an owner other than a live container: a sandbox of the same pod
// that has this address; a CNI call of the container under way, or one that may take the claim
// over; a pod on an unreachable node; a node that keeps the claim and was not up for long enough; a
// registered node, for its tunnel; or a virtual machine, which keeps it without a pod and is not in
// the record.
func (o *owner) owned(v *View, c *model.Claim) bool {
	if c.Tunnel {
		return v.Truth.Nodes[c.Node].Registered
	}
	if c.Machine != "" || o.held.holds(c.Pod, c.Addr) || o.taking(v, c) {
		return true
	}
	if _, ok := v.Truth.Busy[c.Container]; ok {
		return true
	}
	if kept(c) {
		n := v.Truth.Nodes[c.Node]
		return !n.Healthy() || v.Truth.At-n.Since <= garbageMax
	}
	pod, ok := v.Truth.Pods[c.Pod]
	if !ok {
		return false
	}
	node, ok := v.Truth.Nodes[pod.Node]
	return ok && !node.Healthy() && !elsewhere(v, c, pod.Node)
}

// kept reports whether a claim is on the disk of its node and only names a container: only the DEL
// of that container, executed on the node, releases it.
func kept(c *model.Claim) bool {
	return c.Node != "" && c.Container != "" && !c.Tunnel && c.Pod == model.PodRef{}
}

// garbageMax is the time after its start within which a kubelet has run the DELs of sandboxes whose
// pods are gone: twice the period of its container garbage collector.
const garbageMax = 2 * time.Minute
