package ipam

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
)

// Manager is one address manager: data and functions. Name, Upstream and Open are required, and
// Network or Primary. For all other fields the zero value means that the manager does not support
// the feature.
type Manager struct {
	// Name is what scenario files call it.
	Name string
	// Members are the names of the managers that it puts side by side; none if it is one.
	Members []string
	// Upstream is module@version from the build's own information.
	Upstream string
	// Terms explain upstream's terms for things that reports name differently, in sentences; may be
	// "".
	Terms string
	// Demo is the scenario of the library that the command demo runs; "": none.
	Demo string
	// Sources are the packages of the manager's code, in any order, for the call sites of messages.
	Sources []Source
	// Processes are its reconcilers and daemons. An Instance runs them.
	Processes []Process

	// CRDs are the upstream's own custom resource definitions.
	CRDs func() ([]*apiextv1.CustomResourceDefinition, error)
	// Aliases are the second forms in which users may write its kinds: kind and
	// apiVersion of each, by kind of the CRD.
	Aliases map[string][]Alias
	// Annotations are the annotations of pods and nodes that the manager reads and writes.
	Annotations Annotations
	// Datastores are the names of where it can keep its record, the default first; none
	// if it has no choice.
	Datastores []string

	// Network reads the policy out of a NetworkAttachmentDefinition with the
	// upstream's own parser. ok is false if the network is not this manager's;
	// the error is upstream's and is the user's mistake.
	Network func(key string, config json.RawMessage) (n model.Network, ok bool, err error)
	// Policy completes the result of Network for a configuration that only names an object with the
	// policy, such as a pool of a custom resource. The objects are the scenario's, before the first
	// step. If operators may change them during a run, Instance.Observe returns the current policy
	// (model.Snapshot.Networks). An error in one object is an *ObjectError, any other error
	// concerns the configuration. Nil: the configuration contains the whole policy.
	Policy func(n model.Network, config json.RawMessage, objects []Object) (model.Network, error)
	// Primary reads the cluster's default network, which every pod gets that is not on the host's
	// network, from the scenario's manifests, with upstream's own parser and validation. An error
	// in one object is an *ObjectError; ErrNoPrimary means that there is no such network. Nil: the
	// manager serves no such network.
	Primary func([]Object) (n model.Network, config json.RawMessage, err error)
	// Check judges the objects of a scenario by more than their schema, and returns the
	// first mistake, an *ObjectError.
	Check func([]Object) error
	// CheckCommand checks a command line of the manager's tool before the run. Nil: the manager has
	// no tool.
	CheckCommand func(argv []string) error
	// Read returns the record of a cluster with these manifests without a run, for clusters that
	// are too large to run: the record that Observe would return after the objects are stored. An
	// error in one object is an *ObjectError.
	Read func(objects []Object, networks []model.Network) (model.Snapshot, error)
	// Adopts adds to a record of Read what Instance.Adopt claims for a sandbox that runs already,
	// unless it is there. Nil: Instance.Adopt claims nothing.
	Adopts func(s *model.Snapshot, call Call, addrs []netip.Addr)
	// Devices are the addresses of a node's own devices, as its object has them, if daemons of the
	// manager assign such addresses.
	Devices func(*corev1.Node) []Device

	// Plugin is the type of the manager's own CNI plugin, which creates the interface itself; "":
	// an interface plugin executes the manager as its IPAM plugin (package interfaceplugin).
	Plugin string

	// Uses lists the backends that it has in addition to the API server (Env.Backends).
	Uses Uses

	// Open starts the manager in one run, inside its bubble.
	Open func(Env) (Instance, error)

	// Parts are the data of higher layers about the manager: see Part.
	Parts []any
}

// With is the manager with more parts.
func (m *Manager) With(parts ...any) *Manager {
	out := *m
	out.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], parts...)
	return &out
}

// Part returns the data of a higher layer about a manager: the element of Manager.Parts with the
// layer's type. ok is false if there is none.
func Part[T any](m *Manager) (part T, ok bool) {
	if m == nil {
		return part, false
	}
	for _, p := range m.Parts {
		if part, ok = p.(T); ok {
			return part, true
		}
	}
	return part, false
}

// Process is one background process of an address manager.
type Process struct {
	Name string
	// PerNode: one on each node; otherwise there is one in the cluster.
	PerNode bool
	// Daemon runs until its context ends; otherwise it is one pass that a
	// schedule starts again and again.
	Daemon bool
	// Several: more than one process of a daemon that is not PerNode may run at the same
	// time, as during a leader's failover.
	Several bool
	// Reference: the process is not upstream's code but our own, for comparison.
	Reference bool
	// ClientGo is the release of client-go that upstream's program is built with ("0.33"), which
	// determines its features (sim.BuiltWith); "": the release that ipamsim is built with.
	ClientGo string
	// CronJob is part of the command by which a user's CronJob starts a pass; "": a
	// CronJob starts none.
	CronJob string
}

// Definitions are the CRDs, if it has any.
func (m *Manager) Definitions() ([]*apiextv1.CustomResourceDefinition, error) {
	if m.CRDs == nil {
		return nil, nil
	}
	return m.CRDs()
}

// Process is the one of a name.
func (m *Manager) Process(name string) (Process, bool) {
	i := slices.IndexFunc(m.Processes, func(p Process) bool { return p.Name == name })
	if i < 0 {
		return Process{}, false
	}
	return m.Processes[i], true
}

// Annotations are keys of annotations of pods, and one of nodes, by their content; "": the manager
// has no such annotation.
type Annotations struct {
	Container string   // the ID of the pod's sandbox
	Addresses string   // the addresses that the pod asks the manager for
	Static    string   // the addresses that it gets without the manager's record
	Writes    []string // other annotations that its plugin writes to an existing pod
	Node      string   // of nodes: the IPv4 address from which it announces routes, with its subnet
	Node6     string   // and the IPv6 address
}

// Run is the code of a process; node is "" unless it is on one. It sends its messages
// through the gate.
type Run func(ctx context.Context, g *sim.Gate, node string) error

// BuiltWith is the code with the features of a release of client-go.
func (r Run) BuiltWith(clientGo string) Run {
	return func(ctx context.Context, g *sim.Gate, node string) error {
		sim.BuiltWith(clientGo)
		return r(ctx, g, node)
	}
}

// Counted keeps in n how many of these processes run.
func (r Run) Counted(n *atomic.Int32) Run {
	return func(ctx context.Context, g *sim.Gate, node string) error {
		n.Add(1)
		defer n.Add(-1)
		return r(ctx, g, node)
	}
}

// Instance is an address manager within one run. All its functions but Observe, Act,
// Adopt and Export send their messages through the gate they are given. Add, Del,
// Observe and Act are required.
type Instance struct {
	// Add and Del execute the CNI plugin once, in its own process. If an interface plugin starts
	// the manager as its IPAM plugin, that part runs in sim.Gate.Child.
	Add func(context.Context, *sim.Gate, Call) (Result, error)
	Del func(context.Context, *sim.Gate, Call) error
	// Run is the code of each of the manager's Processes, by name.
	Run map[string]Run
	// Observe reads the record from the datastore. It never passes the gate, so that reading does
	// not change the schedule.
	Observe func(context.Context) (model.Snapshot, error)
	// Act describes what a step did. detail is an exchange with the API server (kube.Exchange) or a
	// message to the manager's own datastore. Act returns the zero Act for a step that does not
	// concern the manager; kube.Exchange.Act then describes it.
	Act func(detail any) act.Act

	// Keep is of a manager that keeps some kinds of objects itself.
	Keep *Keep
	// Adopt is set for a manager whose CNI plugin writes more than claims. For a sandbox that
	// already runs, it writes the rest of what its ADD would have written, unless it exists. It
	// passes no gate.
	Adopt func(ctx context.Context, call Call, addrs []netip.Addr) error
	// Command runs the manager's command-line tool as an operator would type it
	// ("calicoctl ipam show") and returns what it printed, also with an error. A command that
	// only reads passes no gate; a command that writes does.
	Command func(ctx context.Context, g *sim.Gate, argv []string) (stdout string, err error)
}

// Keep is a datastore of a manager that is not the Kubernetes API's.
type Keep struct {
	// Keeps reports whether objects of a kind live there.
	Keeps func(kind string) bool
	// Change applies an operator's change to an object. g is the gate of the operator, nil for
	// objects that exist before the first step.
	Change func(ctx context.Context, g *sim.Gate, v Verb, o Object) error
	// Names lists the objects of a kind.
	Names func(ctx context.Context, g *sim.Gate, kind string) ([]string, error)
	// Export is every object in it, in any order. It passes no gate.
	Export func(context.Context) ([]Object, error)
}
