// Package ipam is the interface of all address managers: the functions that the simulated cluster
// calls where a real node executes a CNI plugin or a real cron job starts a reconciler.
package ipam

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"

	"ipamsim/model"
	"ipamsim/sim/etcd"
	"ipamsim/sim/kube"
)

// ErrExhausted is wrapped by the error of an Add if upstream reported that no address is left.
var ErrExhausted = errors.New("no address left")

// ErrNoPrimary is returned by Manager.Primary if the manifests have no network for all pods and the
// manager can do without one.
var ErrNoPrimary = errors.New("the file has no network of all pods")

// ErrAsked is wrapped by the error of an Add whose pod requested certain addresses. Other free
// addresses do not help it.
var ErrAsked = errors.New("the pod asked for certain addresses")

// PoolsError is wrapped by the error of an Add whose pod, namespace or network requests certain
// pools, by name or prefix. Free addresses of other pools do not help it.
type PoolsError struct{ Pools []string }

func (e *PoolsError) Error() string { return "of the pools " + strings.Join(e.Pools, ", ") }

// Unasked is the error of an Add that did not reach upstream. A real node has the missing data on
// its disk; the run requests it from the API server, which did not have it.
type Unasked struct{ Err error }

func (e *Unasked) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *Unasked) Unwrap() error { return e.Err }

// Faulted is the error of an Add or Del in which a fault of the run affected a plugin of another
// project, or the part of the manager's plugin that creates the interface.
type Faulted struct{ Err error }

func (e *Faulted) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *Faulted) Unwrap() error { return e.Err }

// Env is the environment that a run gives to a manager.
type Env struct {
	API      *kube.Server
	Store    *etcd.Run
	Networks []model.Network
	// Config is the CNI configuration of a network, by its key.
	Config func(network string) json.RawMessage
	// Datastore is the datastore of the manager's record, if there is a choice
	// (Manager.Datastores); "" is the first.
	Datastore string
	// Device is called with every address that a node's own device (IPIP, VXLAN, WireGuard)
	// really gets from the manager, and with the handle of its claim. An invalid address
	// means that the device has lost it. May be nil.
	Device func(node, handle string, addr netip.Addr)
	Backends
}

// Call contains the parameters that a container runtime passes to a CNI plugin.
type Call struct {
	Node      string
	Pod       model.PodRef
	UID       string
	Container string
	Interface string
	Network   string // key of the NetworkAttachmentDefinition
	Config    json.RawMessage
	// Netns is the path of the sandbox's network namespace; "": of a DEL, it is gone.
	Netns string
	// Fails returns the error of the kernel, an *Faulted, for a plugin that creates the
	// interface (ADD) or removes it (DEL); nil: it never fails. A manager whose plugin is not
	// an interface plugin calls it (Manager.Plugin).
	Fails func(command string) error
	// Unplug is called by a DEL that removes the interface from the sandbox before it ends. May
	// be nil. A DEL that succeeds has removed the interface in any case.
	Unplug func()
}

// Object is a manifest as the scenario gave it.
type Object struct {
	Kind, Namespace, Name string
	Body                  json.RawMessage
}

// Alias is a second form of a kind of object.
type Alias struct{ APIVersion, Kind string }

// ObjectError is an error of upstream's validation of one manifest.
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

// Verb is an operator's action on an object.
type Verb string

// The verbs, as of kubectl.
const (
	Create Verb = "create"
	Apply  Verb = "apply"
	Merge  Verb = "merge-patch" // Object.Body is the patch
	JSON   Verb = "json-patch"
	Delete Verb = "delete"
)

// Device is an address of a node's own device, with the handle of its claim.
type Device struct {
	Handle string
	Addr   netip.Addr
}

// Result is the output of the plugin.
type Result struct {
	Addrs  []netip.Prefix // from the manager, in the order of the ranges
	Static []netip.Prefix // from the configuration's addresses
	Asked  bool           // the pod asked for these very addresses (Addrs), and not for any
	OfPool bool           // it, its namespace or its network asked for certain pools
}

// Addrs are the addresses of prefixes.
func Addrs(all []netip.Prefix) []netip.Addr {
	out := make([]netip.Addr, len(all))
	for i, p := range all {
		out[i] = p.Addr()
	}
	return out
}
