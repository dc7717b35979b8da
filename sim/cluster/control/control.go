// Package control is the interface behind which Kubernetes' own controllers run: those that
// make pods, bind them to nodes, and delete them again. What is behind it is a Set:
// package simple, or Kubernetes' own programs.
package control

import (
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// Env is what a set of controllers gets of the cluster that it controls. Kubernetes' own
// need World, API and Name: they know what the API server tells them, each by a client of
// its own process, and nodes' kubelets must send heartbeats to it. The rest is for those
// that hear of machines and stored objects in a shorter way.
type Env struct {
	World *sim.World   // processes are spawned here
	API   *kube.Server // Transport(gate) is that of a process
	// Kinds are those of which the run has objects: stored before it, or applied by its script.
	Kinds map[string]bool
	// Name makes a process name that no process of the run has had: web, web~2, …
	Name func(string) string

	// Daemons are the manager's, by name. A program of the control plane of that name is
	// another process: what is left of it.
	Daemons []string

	Stored *kubeapi.Cache // up to date when Set.Changed is called
	Feed   *kubeapi.Feed  // what is committed, as messages
	// Machine is what is so of a node's machine, whatever its Node says. The node is one
	// that is stored, or was.
	Machine func(node string) model.Node
	Timers  Timers
	Plane   Plane
	// Alone: whatever becomes of other nodes, pods leave one that is silent, as the planner's
	// reference has it.
	Alone bool
}

// Plane is how the programs of Kubernetes' control plane run.
type Plane struct {
	// FeatureGates are those of the whole cluster, the API server too, as kind has them.
	FeatureGates      map[string]bool `json:"featureGates,omitempty"`
	ControllerManager Component       `json:"controllerManager,omitzero"`
	Scheduler         Component       `json:"scheduler,omitzero"`
}

// Component is one of them.
type Component struct {
	// Replicas elect a leader among them; default 1, which is alone.
	Replicas int `json:"replicas,omitempty" unset:"1"`
	// ExtraArgs are flags, as kubeadm has them.
	ExtraArgs []Arg `json:"extraArgs,omitempty"`
}

// Arg is a flag without its dashes.
type Arg struct {
	Name  string `json:"name" jsonschema:"required"`
	Value string `json:"value" jsonschema:"required"`
}

// BadArg is a flag that the program would not start with, or that is not simulated.
type BadArg struct {
	Component string   // controllerManager or scheduler
	At        int      // which of its ExtraArgs; -1: no single one
	Name      string   // of that one
	Known     []string // names, sorted, if this one is unknown
	Err       error
}

func (b *BadArg) Error() string { return b.Err.Error() }

// Timers are those of the controllers; 0 is the default.
type Timers struct {
	NodeMonitorGrace time.Duration // a silent node becomes unreachable: 50 s
	Toleration       time.Duration // pods on it that do not say themselves are deleted after: 300 s
	PodGC            time.Duration // pods of a deleted node are removed after: 60 s, podgc's quarantine of 40 s and its passes every 20 s
	APIRetry         time.Duration // a failed request is repeated after: 1 s
}

// OrDefault is t with the defaults of stand-ins where nothing is said.
func (t Timers) OrDefault() Timers {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&t.NodeMonitorGrace, 50*time.Second) // pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.37.2)
	set(&t.Toleration, 300*time.Second)
	set(&t.PodGC, time.Minute)
	set(&t.APIRetry, time.Second)
	return t
}

// Set is one set of controllers in one run. It is made before the cluster's objects are
// stored. All methods are called on the root goroutine or by processes, one at a time.
type Set interface {
	// Start starts its processes: after the cluster's objects were stored, before its
	// machines have power.
	Start()
	// Changed is called for every committed change, those before Start included, before
	// informers hear of it.
	Changed(kube.Change)
	// MachineChanged is called when Env.Machine has changed of some node.
	MachineChanged()
}
