// Package real runs Kubernetes' own controllers and scheduler (package controlplane) around a
// cluster, and the kubelets' reports to them.
package real

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller/apis/config"

	"ipamsim/sim"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/controlplane"
	"ipamsim/sim/kube"
	"ipamsim/sim/kube/elect"
)

// controllers is the set. It implements control.Set.
type controllers struct {
	control.Env
	serves    []*metav1.APIResourceList
	manager   *config.KubeControllerManagerConfiguration
	scheduler *controlplane.SchedulerConfig

	mu sync.Mutex
	on map[string]bool // nodes that have power; their kubelets report
}

// New returns the set. controlplane.Prepare must have been called, outside of bubbles.
func New(env control.Env) control.Set {
	c := &controllers{Env: env, on: map[string]bool{}}
	if err := env.API.ForControllers(); err != nil {
		panic(err) // a definition that has already been served
	}
	var err error
	if c.serves, err = env.API.Discovery(); err != nil {
		panic(err) // so has this
	}
	c.serves = needed(c.serves, env.Kinds)
	if c.manager, c.scheduler, err = configured(env.Plane); err != nil {
		panic(err) // Check reports such errors
	}
	return c
}

// onDemand are kinds that no controller lists unconditionally. The garbage collector and the
// namespace controller, which list every kind, do not need kinds without objects.
var onDemand = map[string]bool{
	"ClusterRole": true, "ClusterRoleBinding": true, "LimitRange": true, "PriorityClass": true, "ResourceQuota": true, "Role": true,
	"RoleBinding": true, "Secret": true,
}

func needed(all []*metav1.APIResourceList, has map[string]bool) (out []*metav1.APIResourceList) {
	for _, l := range all {
		l.APIResources = slices.DeleteFunc(l.APIResources, func(r metav1.APIResource) bool { return onDemand[r.Kind] && !has[r.Kind] })
		if len(l.APIResources) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// Start starts kube-controller-manager and kube-scheduler. Stored nodes get the status that their
// kubelets would have reported.
func (c *controllers) Start() {
	for _, name := range c.Stored.Nodes() {
		if n, _ := c.Stored.Node(name); n != nil {
			if err := c.complete(n); err != nil {
				panic(err) // of a Node that has just been stored
			}
		}
	}
	p := c.Plane
	elected := func(x control.Component, elect bool) bool {
		return elect && (x.Replicas > 1 || slices.ContainsFunc(x.ExtraArgs, func(a control.Arg) bool { return a.Name == "leader-elect" }))
	}
	managers := elected(p.ControllerManager, c.manager.Generic.LeaderElection.LeaderElect)
	name := "kube-controller-manager"
	if slices.Contains(c.Daemons, name) {
		name += "-rest" // its controllers but the manager's
	}
	c.start(name, p.ControllerManager, managers, func(ctx context.Context, g *sim.Gate, identity string) error {
		return controlplane.Controllers(ctx, c.API.Transport(g), controlplane.Options{
			Serves: c.serves, Heard: c.heard, NodeMonitorGrace: c.Timers.NodeMonitorGrace, Config: c.manager, Identity: identity,
		})
	})
	schedulers := elected(p.Scheduler, c.scheduler.LeaderElection.LeaderElect)
	c.start("kube-scheduler", p.Scheduler, schedulers, func(ctx context.Context, g *sim.Gate, identity string) error {
		return controlplane.Scheduler(g.Term(), c.API.Transport(g), c.scheduler, identity)
	})
}

// program runs until ctx ends or it exits. The identity is "" for a program without leader
// election.
type program func(ctx context.Context, g *sim.Gate, identity string) error

func (c *controllers) start(name string, x control.Component, elected bool, run program) {
	for range max(1, x.Replicas) {
		c.keep(name, elected, run)
	}
}

// restartAfter is how soon a program that exited is started again: kubelet's first
// crash-loop back-off.
const restartAfter = 10 * time.Second

// keep runs a program, and again when it was killed or is not the leader any more. One
// that ends otherwise would end so again: the run is over.
func (c *controllers) keep(name string, elected bool, run program) {
	id := c.Name(name)
	identity := ""
	if elected {
		identity = id
	}
	a := c.World.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, g *sim.Gate) error { return run(ctx, g, identity) }})
	c.World.Spawn(sim.Process{ID: sim.ActorID(c.Name("supervisor/" + name)), Run: func(ctx context.Context, _ *sim.Gate) error {
		select {
		case <-a.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := a.Err(); ctx.Err() == nil && !errors.Is(err, sim.ErrKilled) && !errors.Is(err, elect.ErrDeposed) {
			c.World.Abort(fmt.Errorf("%s ended: %w", id, err))
			return err
		}
		if kubeapi.Sleep(ctx, restartAfter) {
			c.keep(name, elected, run)
		}
		return nil
	}})
}

// heard reports whether the API server receives the heartbeats of a node's kubelet.
func (c *controllers) heard(node string) bool { return c.Machine(node).Healthy() }

// Changed handles volume claims; the controllers watch everything else.
func (c *controllers) Changed(ch kube.Change) {
	if ch.Resource == claims.Plural {
		c.claimed(ch)
	}
}

// MachineChanged starts the status reports of kubelets whose machines were turned on.
func (c *controllers) MachineChanged() {
	for _, name := range c.Stored.Nodes() {
		up := c.Machine(name).Up
		c.mu.Lock()
		began := up && !c.on[name]
		c.on[name] = up
		c.mu.Unlock()
		if began {
			c.World.Spawn(sim.Process{ID: sim.ActorID(c.Name("kubelet-status/" + name)), Group: name, Run: func(ctx context.Context, g *sim.Gate) error {
				return c.report(ctx, g, name)
			}})
		}
	}
}
