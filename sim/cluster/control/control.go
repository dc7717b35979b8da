// Package control is the interface to the controllers that create pods, bind them to nodes
// and delete them. Its implementations (Set) are package simple, a stand-in, and package
// real, Kubernetes' own programs.
package control

import (
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// Env is the cluster as a set of controllers sees it. Kubernetes' own controllers need
// World, API and Name: each process reads the API server by its own client, and kubelets
// send heartbeats to it. The other fields are for controllers that learn about machines
// and stored objects without messages.
type Env struct {
	World *sim.World   // processes are spawned here
	API   *kube.Server // Transport(gate) is the transport of a process
	// Kinds are the kinds of the run's objects, stored before it or applied by its script.
	Kinds map[string]bool
	// Name returns a process name that is unique in the run: web, web~2, …
	Name func(string) string

	// Daemons are the names of the manager's daemons. A program of the control plane with
	// the name of a daemon is another process, without the part that the daemon runs.
	Daemons []string

	Stored *kubeapi.Cache // up to date when Set.Changed is called
	Feed   *kubeapi.Feed  // committed changes, as messages
	// Machine is the actual state of a node's machine, whatever its Node object says. The
	// node is or was stored.
	Machine func(node string) model.Node
	Timers  Timers
	Plane   Plane
	// Alone: pods are evicted from a silent node without regard to the state of the other
	// nodes, as in the planner's reference.
	Alone bool
}

// Plane is how the programs of Kubernetes' control plane run.
type Plane struct {
	// FeatureGates apply to the whole cluster, including the API server, as in kind.
	FeatureGates      map[string]bool `json:"featureGates,omitempty"`
	ControllerManager Component       `json:"controllerManager,omitzero"`
	Scheduler         Component       `json:"scheduler,omitzero"`
}

// Component is one program of the control plane.
type Component struct {
	// Replicas elect a leader if there is more than one; default 1.
	Replicas int `json:"replicas,omitempty" unset:"1"`
	// ExtraArgs are flags, as in kubeadm.
	ExtraArgs []Arg `json:"extraArgs,omitempty"`
}

// Arg is a flag without its dashes.
type Arg struct {
	Name  string `json:"name" jsonschema:"required"`
	Value string `json:"value" jsonschema:"required"`
}

// BadArg is a flag that the program rejects at its start, or that is not simulated.
type BadArg struct {
	Component string   // controllerManager or scheduler
	At        int      // index in its ExtraArgs; -1: no single one
	Name      string   // of that flag
	Known     []string // known names, sorted, if this one is unknown
	Err       error
}

func (b *BadArg) Error() string { return b.Err.Error() }

// Timers are the timers of the controllers; 0 is the default.
type Timers struct {
	NodeMonitorGrace time.Duration // a silent node becomes unreachable: 50 s
	Toleration       time.Duration // pods on it without a toleration of their own are deleted after: 300 s
	PodGC            time.Duration // pods of a deleted node are removed after: 60 s, podgc's quarantine of 40 s and its passes every 20 s
	APIRetry         time.Duration // a failed request is repeated after: 1 s
}

// OrDefault is t with the defaults of the stand-ins for unset timers.
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

// Set is one set of controllers in one run. It is created before the cluster's objects are
// stored. All methods are called on the root goroutine or by processes, one at a time.
type Set interface {
	// Start starts its processes: after the cluster's objects were stored, before its
	// machines have power.
	Start()
	// Changed is called for every committed change, including those before Start, before informers
	// receive it.
	Changed(kube.Change)
	// MachineChanged is called when Env.Machine has changed of some node.
	MachineChanged()
}
