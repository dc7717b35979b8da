// Package ipam is the seam that every address manager fits: what the simulated
// cluster calls when a real node would execute a CNI plugin or a real cron job
// would start a reconciler.
package ipam

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/kube"
)

// ErrExhausted is wrapped by an Add whose upstream said that no address is left.
var ErrExhausted = errors.New("no address left")

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
}

// Instance is an address manager within one run. All its methods but Observe
// and Describe send their messages through the gate they are given.
type Instance interface {
	// Add and Del are one execution of the CNI plugin as a process of its own.
	Add(context.Context, *sim.Gate, Call) (Result, error)
	Del(context.Context, *sim.Gate, Call) error
	// Reconcilers are the manager's background jobs and daemons.
	Reconcilers() []Reconciler
	// Observe reads what the datastore claims. It is never gated: looking must
	// not change the schedule.
	Observe(context.Context) (model.Snapshot, error)
	// Describe puts one exchange with the API server into the manager's own
	// words ("removes 10.128.40.47 of default/web-2, if still at revision 18"),
	// or "" if it has nothing to say beyond method and status.
	Describe(kube.Exchange) string
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
}

// Result is what the plugin printed.
type Result struct {
	Addrs  []netip.Prefix // from the manager, in the order of the ranges
	Static []netip.Prefix // from the configuration's addresses
}

// Reconciler is one background process of an address manager.
type Reconciler struct {
	Name string
	// Scope says how many there are: one, or one on each node.
	PerNode bool
	// Daemon runs until its context ends; otherwise it is one pass that a
	// schedule starts again and again.
	Daemon bool
	Run    func(ctx context.Context, g *sim.Gate, node string) error
}
