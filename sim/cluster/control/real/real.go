// Package real is Kubernetes' own controllers and scheduler (package controlplane) around
// a cluster, and what kubelets tell them of their nodes.
package real

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/controlplane"
	"ipamsim/sim/kube"
)

// controllers is the set. It implements control.Set.
type controllers struct {
	control.Env
	serves []*metav1.APIResourceList

	mu    sync.Mutex
	tells map[string]bool // nodes that have power, whose kubelets report
}

// New makes the set. controlplane.Prepare must have been called, outside of bubbles.
func New(env control.Env) control.Set {
	c := &controllers{Env: env, tells: map[string]bool{}}
	if err := env.API.ForControllers(); err != nil {
		panic(err) // a definition that has already been served
	}
	var err error
	if c.serves, err = env.API.Discovery(); err != nil {
		panic(err) // so has this
	}
	return c
}

// Start starts kube-controller-manager and kube-scheduler. The nodes that are there are
// what their kubelets would have said of them.
func (c *controllers) Start() {
	for _, name := range c.Stored.Nodes() {
		if n, _ := c.Stored.Node(name); n != nil {
			if err := c.complete(n); err != nil {
				panic(err) // of a Node that has just been stored
			}
		}
	}
	c.World.Spawn(sim.Process{ID: sim.ActorID(c.Name("kube-controller-manager")), Run: func(ctx context.Context, g *sim.Gate) error {
		return controlplane.Controllers(ctx, c.API.Door(g), controlplane.Options{Serves: c.serves, Heard: c.heard, NodeMonitorGrace: c.Timers.NodeMonitorGrace})
	}})
	c.World.Spawn(sim.Process{ID: "kube-scheduler", Run: func(ctx context.Context, g *sim.Gate) error {
		return controlplane.Scheduler(ctx, c.API.Door(g))
	}})
}

// heard reports whether the API server hears of a node's kubelet.
func (c *controllers) heard(node string) bool { return c.Machine(node).Healthy() }

// Changed has nothing to do: they watch.
func (*controllers) Changed(kube.Change) {}

// MachineChanged starts the reports of kubelets whose machines have got power.
func (c *controllers) MachineChanged() {
	for _, name := range c.Stored.Nodes() {
		up := c.Machine(name).Up
		c.mu.Lock()
		began := up && !c.tells[name]
		c.tells[name] = up
		c.mu.Unlock()
		if began {
			c.World.Spawn(sim.Process{ID: sim.ActorID(c.Name("kubelet-status/" + name)), Group: name, Run: func(ctx context.Context, g *sim.Gate) error {
				return c.report(ctx, g, name)
			}})
		}
	}
}
