// Package ipam is the seam that every address manager fits: what the simulated
// cluster calls when a real node would execute a CNI plugin or a real cron job
// would start a reconciler.
package ipam

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/kube"
)

// ErrExhausted is wrapped by an Add whose upstream said that no address is left.
var ErrExhausted = errors.New("no address left")

// ErrAsked is wrapped by the error of an Add whose pod had asked for certain
// addresses or pools: that others are free does not help it.
var ErrAsked = errors.New("the pod asked for certain addresses or pools")

// Adapter is one address manager. A new one is a folder under sim/ipam and a
// line in the list of adapters.
type Adapter interface {
	Name() string
	// Upstream is module@version from the build's own information.
	Upstream() string
	// CRDs are the upstream's own custom resource definitions.
	CRDs() ([]*apiextv1.CustomResourceDefinition, error)
	// Networks reads the policy out of a NetworkAttachmentDefinition with the
	// upstream's own parser. ok is false if the network is not this manager's;
	// the error is upstream's and is the user's mistake.
	Network(key string, config json.RawMessage) (n model.Network, ok bool, err error)
	// Open starts the adapter in one run, inside its bubble.
	Open(Env) (Instance, error)
}

// Env is what a run gives an adapter.
type Env struct {
	API      *kube.Server
	Store    *etcd.Run
	Networks []model.Network
	// Datastore is where the manager keeps its record, if it has a choice
	// (Datastores); "" is the first of them.
	Datastore string
	// Device is told of every address that a node's own device (IPIP, VXLAN,
	// WireGuard) really gets from the manager, under the handle of its claim; an
	// invalid address takes it away. Nil: nobody wants to know.
	Device func(node, handle string, addr netip.Addr)
	Doors
}

// Instance is an address manager within one run. All its methods but Observe
// and Act send their messages through the gate they are given.
type Instance interface {
	// Add and Del are one execution of the CNI plugin as a process of its own.
	Add(context.Context, *sim.Gate, Call) (Result, error)
	Del(context.Context, *sim.Gate, Call) error
	// Reconcilers are the manager's background jobs and daemons.
	Reconcilers() []Reconciler
	// Observe reads what the datastore claims. It is never gated: looking must
	// not change the schedule.
	Observe(context.Context) (model.Snapshot, error)
	// Act says what a step did, whose Detail is an exchange with the API server
	// (kube.Exchange) or a message to the manager's own datastore. It is the zero Act if
	// the step is none of the manager's affair: then ActOf says what there is to say.
	Act(detail any) act.Act
}

// Call is what a container runtime passes to a CNI plugin.
type Call struct {
	Node      string
	Pod       model.PodRef
	UID       string
	Container string
	Interface string
	Network   string // key of the NetworkAttachmentDefinition
	Config    json.RawMessage
	// Unplug is called by a DEL that takes the interface out of the sandbox before it
	// has ended; nil: nobody wants to know. One that succeeds has done so in any case.
	Unplug func()
}

// Object is a manifest as the scenario gave it.
type Object struct {
	Kind, Namespace, Name string
	Body                  json.RawMessage
}

// Primary is an Adapter that serves the cluster's default network: the one every
// pod gets that is not on the host's network, without asking for it.
type Primary interface {
	// Primary reads that network out of the scenario's manifests with the
	// upstream's own parser and validation. An error that is the fault of one
	// object is an *ObjectError.
	Primary([]Object) (n model.Network, config json.RawMessage, err error)
	// Datastores are the names of where it can keep its record, the default first.
	Datastores() []string
	// Aliases are the second forms in which users may write its kinds: kind and
	// apiVersion of each, by kind of the CRD.
	Aliases() map[string][]Alias
}

// Alias is a second form of a kind of object.
type Alias struct{ APIVersion, Kind string }

// Checker is an Adapter that judges the objects of a scenario by more than their
// schema.
type Checker interface {
	// Check returns the first mistake, an *ObjectError.
	Check([]Object) error
}

// ObjectError is what upstream's validation says of one manifest.
type ObjectError struct {
	Object Object
	Field  string // as in spec.blockSize; "" if it is the object as a whole
	Err    error
}

func (e *ObjectError) Error() string {
	return e.Object.Kind + " " + e.Object.Name + ": " + e.Err.Error()
}

// Unwrap is upstream's own error.
func (e *ObjectError) Unwrap() error { return e.Err }

// Verb is what an operator does to an object.
type Verb string

// The verbs, as of kubectl.
const (
	Create Verb = "create"
	Apply  Verb = "apply"
	Merge  Verb = "merge-patch" // Object.Body is the patch
	JSON   Verb = "json-patch"
	Delete Verb = "delete"
)

// Keeper is an Instance that keeps some kinds of objects itself, in a datastore
// that is not the Kubernetes API's.
type Keeper interface {
	Keeps(kind string) bool
	// Change does to an object what an operator asked for; the gate is the
	// operator's, or nil for what is there before the first step.
	Change(ctx context.Context, g *sim.Gate, v Verb, o Object) error
	// Names lists the objects of a kind.
	Names(ctx context.Context, g *sim.Gate, kind string) ([]string, error)
}

// Adopter is an Instance whose CNI plugin leaves more behind than claims. A cluster
// that was there before the run has that, too.
type Adopter interface {
	// Adopt writes what the ADD of a sandbox that runs already would have left besides
	// its claims, unless it is there. It passes no gate.
	Adopt(ctx context.Context, call Call, addrs []netip.Addr) error
}

// Reader is an Adapter that can say what a cluster of these manifests looks like
// without one, for clusters too large to be run.
type Reader interface {
	// Read is the record that Observe would find once the objects are stored. An error
	// that is the fault of one object is an *ObjectError.
	Read(objects []Object, networks []model.Network) (model.Snapshot, error)
}

// Device is an address that a node's own device has, under the handle of its claim.
type Device struct {
	Handle string
	Addr   netip.Addr
}

// Hoster is an Adapter whose daemons give nodes addresses of their own.
type Hoster interface {
	// Devices are those of a node, as its object says.
	Devices(*corev1.Node) []Device
}

// Exporter is an Instance that can print what it keeps itself.
type Exporter interface {
	// Export is every object in a datastore of its own, in any order; none if it keeps
	// none. It passes no gate.
	Export(context.Context) ([]Object, error)
}

// Commander is an Instance whose manager comes with a command-line tool.
type Commander interface {
	// Command runs it as an operator would type it ("calicoctl ipam show") and
	// returns what it printed, also with an error. What only looks passes no gate;
	// what changes something does.
	Command(ctx context.Context, g *sim.Gate, argv []string) (stdout string, err error)
}

// Tool is an Adapter whose instances are Commanders.
type Tool interface {
	// CheckCommand says what is wrong with a command line, before anything runs.
	CheckCommand(argv []string) error
}

// Result is what the plugin printed.
type Result struct {
	Addrs  []netip.Prefix // from the manager, in the order of the ranges
	Static []netip.Prefix // from the configuration's addresses
	Asked  bool           // the pod asked for these very addresses (Addrs), and not for any
}

// Reconciler is one background process of an address manager.
type Reconciler struct {
	Name string
	// Scope says how many there are: one, or one on each node.
	PerNode bool
	// Daemon runs until its context ends; otherwise it is one pass that a
	// schedule starts again and again.
	Daemon bool
	// Reference: it is not upstream's code but ours, for comparison.
	Reference bool
	Run       func(ctx context.Context, g *sim.Gate, node string) error
}
