package cluster

import (
	"errors"
	"time"

	"ipamsim/model"
	"ipamsim/sim/cluster/checker"
)

// errNoRuntime is the error of calls to the runtime while it is down.
var errNoRuntime = errors.New("the container runtime does not answer")

// RestartRuntime takes the runtime of a machine down for a while. Its record of sandboxes is on its
// disk, including a sandbox that it was creating, which kubelets then find dead. It returns false
// if there was no runtime.
//
// Source: containerd 2, internal/cri/server, recover.
func (c *Cluster) RestartRuntime(name string, d time.Duration) bool {
	if !c.Up(name) {
		return false
	}
	c.mu.Lock()
	n := c.nodes[name]
	n.runtimeBack = max(n.runtimeBack, c.World.Now()+d)
	n.record.Restart()
	undoing := n.undoing
	n.undoing = nil
	c.mu.Unlock()
	c.Checker.Record(model.Event{Kind: model.NodeEvent, Node: name, Text: "container runtime killed"})
	for _, id := range undoing {
		c.World.Kill(id)
	}
	c.Checker.CutOff(func(b *checker.Call) bool { return b.Node == name }, func(b *checker.Call) error {
		close(b.Lost)
		return errNoRuntime
	})
	return true
}

// runtimeAnswers reports whether a node's runtime is up.
func (c *Cluster) runtimeAnswers(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.World.Now() >= c.nodes[name].runtimeBack
}
