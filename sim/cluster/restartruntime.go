package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster/checker"
)

// RestartRuntime kills the container runtime of a node; its service manager starts it
// again. Containers run on, and so does a plugin that it was executing, whose result
// nobody reads any more.
type RestartRuntime struct {
	Node string          `json:"node" jsonschema:"required"`
	Down metav1.Duration `json:"down,omitzero" unset:"5s"` // default 5s
}

// Do sends SIGKILL to it alone, as KillMode=process of its unit has it.
func (a *RestartRuntime) Do(ctx context.Context, o *Operator) error {
	n, err := o.machine(a.Node)
	if err != nil {
		return err
	}
	d := a.Down.Duration
	if d == 0 {
		d = 5 * time.Second
	}
	if !o.c.loseRuntime(a.Node, n, d) {
		return fmt.Errorf("node %q has no power", a.Node)
	}
	return nil
}

func (a *RestartRuntime) String() string { return "kill -9 containerd on node " + a.Node }

// Machine is the node that it happens to.
func (a *RestartRuntime) Machine() string { return a.Node }

// errNoRuntime is what whoever calls the runtime gets while it is down.
var errNoRuntime = errors.New("the container runtime does not answer")

// loseRuntime takes the runtime of a machine away for a while. What it remembers of
// sandboxes is on its disk, also of one that it was making: kubelets find that one
// dead. It reports false if there was none to lose.
//
// Source: containerd 2, internal/cri/server, recover.
func (c *Cluster) loseRuntime(name string, n *node, d time.Duration) bool {
	if !c.up(name) {
		return false
	}
	c.mu.Lock()
	n.runtimeBack = max(n.runtimeBack, c.w.Now()+d)
	for _, st := range n.disk {
		st.undone = false
	}
	undoing := n.undoing
	n.undoing = nil
	c.mu.Unlock()
	c.Checker.Record(model.Event{Kind: model.NodeEvent, Node: name, Text: "container runtime killed"})
	for _, id := range undoing {
		c.w.Kill(id)
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
	return c.w.Now() >= c.nodes[name].runtimeBack
}
