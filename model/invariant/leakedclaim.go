package invariant

import (
	"fmt"
	"time"

	"ipamsim/model"
)

// LeakedClaim is an address nobody can use: its container is gone, and nothing
// released the claim within the bound. The time runs from the last the history
// saw of the container, or from 0 for claims that were there before the run.
//
// A pod object on a node that is down or cut off keeps its claims: no manager
// can know that the sandbox is gone, and the pod may come back with it.
var LeakedClaim = define(Invariant{
	Name:     "leaked-claim",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No claim outlives its sandbox for longer than the scenario's bound.",
}, func(v View) []finding {
	if v.Settings.LeakAfter <= 0 {
		return nil
	}
	var out []finding
	l := owners(&v)
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		since := max(lastOf(&v, c.Container), reachable(&v, c.Pod))
		if v.Truth.At-since <= v.Settings.LeakAfter || l.live[c.Container] || l.owned(&v, c) {
			continue
		}
		out = append(out, finding{
			message: fmt.Sprintf("%s stays claimed in pool %s for %s (container %s), which has no live sandbox since %s",
				c.Addr, c.Pool, c.Pod, short(c.Container), clock(since)),
			objects: claimObjects(c),
		})
	}
	return out
})

// reachable is since when the node that a pod object is bound to can be asked
// again; 0 for a pod that is gone. A node that was down for longer than the bound
// has not leaked anything at the instant its power is back: the kubelet's first
// DEL is yet to come.
func reachable(v *View, p model.PodRef) time.Duration {
	pod, ok := v.Truth.Pods[p]
	if !ok {
		return 0
	}
	return v.Truth.Nodes[pod.Node].Since
}

func claimObjects(c *model.Claim) []string {
	o := []string{"address " + c.Addr.String(), poolName(c.Pool), podName(c.Pod)}
	if c.Container != "" {
		o = append(o, containerName(c.Container))
	}
	return o
}

func lastOf(v *View, container string) time.Duration {
	if v.History == nil {
		return 0
	}
	at, _ := v.History.LastOf(container)
	return at
}

// owner answers who may still own a claim.
type owner struct {
	live map[string]bool // container ids of live sandboxes
	held held
	busy map[model.PodRef]bool
}

func owners(v *View) owner {
	o := owner{live: make(map[string]bool, len(v.Truth.Sandboxes)), held: hold(*v), busy: busyPods(v)}
	for i := range v.Truth.Sandboxes {
		o.live[v.Truth.Sandboxes[i].ID] = true
	}
	return o
}

// owned reports whether a claim has an owner other than a live container: a
// sandbox of the same pod that has this very address, a CNI call under way, or
// a pod whose node nobody can ask.
func (o *owner) owned(v *View, c *model.Claim) bool {
	if o.held.holds(c.Pod, c.Addr) || o.busy[c.Pod] {
		return true
	}
	if _, ok := v.Truth.Busy[c.Container]; ok {
		return true
	}
	pod, ok := v.Truth.Pods[c.Pod]
	if !ok {
		return false
	}
	node, ok := v.Truth.Nodes[pod.Node]
	return ok && !node.Healthy()
}
