package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ipamsim/sim"
)

// Process is the live process with a name: the process of exactly that name, or the last of its
// successors, whose name has a number after it.
func (c *Cluster) Process(name string) (id sim.ActorID, alive bool) {
	if c.World.Alive(sim.ActorID(name)) {
		return sim.ActorID(name), true
	}
	last := 0
	for _, a := range c.World.Actors() {
		rest, is := strings.CutPrefix(string(a), name+"~")
		if n, err := strconv.Atoi(rest); is && err == nil && n > last {
			id, last, alive = a, n, true
		}
	}
	return id, alive
}

// Kill ends one process immediately. A kubelet takes its pod workers along and comes back
// after a while, for which Kill waits.
func (c *Cluster) Kill(ctx context.Context, id sim.ActorID) error {
	found, alive := c.Process(string(id))
	if !alive || !c.World.Kill(found) {
		return fmt.Errorf("no process %q, want one of %s", id, strings.Join(c.Killable(c.World.Actors()), ", "))
	}
	name, kubelet := strings.CutPrefix(string(id), "kubelet/")
	if n := c.node(name); n != nil && kubelet && n.kubelet != nil {
		n.kubelet.die()
		return n.kubelet.restart(ctx)
	}
	return nil
}

// Paused stops the node or the process of a name as SIGSTOP does, also a process that only
// begins while it lasts. Resume ends that; it is an error if nothing was stopped.
func (c *Cluster) Paused(name string) (resume func() error) {
	id, alive := c.Process(name)
	if c.node(name) != nil || !alive {
		id = sim.ActorID(name)
	}
	before := c.World.Incarnations(id)
	c.Checker.Paused(string(id), true)
	c.World.Pause(string(id))
	return func() error {
		c.World.Resume(string(id))
		c.Checker.Paused(string(id), false)
		if c.node(name) == nil && !alive && c.World.Incarnations(id) == before {
			return fmt.Errorf("no node or process %q, want one of %s", name, strings.Join(append(c.Nodes(), c.Killable(c.World.Actors())...), ", "))
		}
		return nil
	}
}

// Killable are the names of those that could be killed, sorted: of the manager, of Kubernetes'
// control plane, and kubelets.
func (c *Cluster) Killable(all []sim.ActorID) (out []string) {
	for _, a := range all {
		name, _, _ := strings.Cut(string(a), "~")
		head, rest, _ := strings.Cut(name, "/")
		if c.Checker.Theirs(a) || head == "kubelet" && !strings.Contains(rest, "/") || strings.HasPrefix(name, "kube-") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
