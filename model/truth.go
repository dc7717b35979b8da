package model

import (
	"net/netip"
	"strings"
	"time"
)

// PodRef names a pod. Whereabouts' podref and Kubernetes' namespace/name key are
// its String.
type PodRef struct{ Namespace, Name string }

func (p PodRef) String() string { return p.Namespace + "/" + p.Name }

// Compare orders pods as their Strings. It does not build the strings if both pods have
// the same namespace.
func (p PodRef) Compare(q PodRef) int {
	if p.Namespace == q.Namespace {
		return strings.Compare(p.Name, q.Name)
	}
	return strings.Compare(p.String(), q.String())
}

// Sandbox is the actual state of a pod's network namespace on a node, whatever a datastore says. It
// exists from its creation until its DEL has succeeded, and is alive until its processes have
// ended: a node that loses power loses its sandboxes, a partitioned node keeps them.
type Sandbox struct {
	ID          string // container id
	Pod         PodRef
	UID         string // of the pod object for which it was created
	Node        string
	Since       time.Duration // virtual time
	Attachments []Attachment  // in the order of the pod's networks; DEL takes one away
	// Stopped: its processes are gone. The kernel still answers for its addresses.
	Stopped bool
}

// Attachment is one interface of a sandbox with the addresses that the address
// manager's CNI ADD returned for it.
type Attachment struct {
	Network   string // key of the NetworkAttachmentDefinition: namespace/name
	Interface string // net1, net2, …
	Addrs     []netip.Addr
	Since     time.Duration
	// Asked: the pod asked for these very addresses, and not for any.
	Asked bool
	// OfPool: the pod, its namespace or its network asked for certain pools.
	OfPool bool `json:",omitempty"`
	// Static are addresses from a static configuration, not from the manager.
	Static []netip.Addr
}

// Truth is the ground truth at one instant. Sandboxes are sorted by node, pod, id.
type Truth struct {
	At        time.Duration
	Sandboxes []Sandbox
	// Pods are the existing pod objects, by key, with the fields that a reconciler may read.
	Pods map[PodRef]Pod
	// Nodes that exist, by name.
	Nodes map[string]Node
	// Taken are addresses that belong to something other than a pod, in no order.
	Taken []Taken
	// Busy are the CNI ADDs and DELs under way, by container id, at most one for each: their claims
	// are neither missing nor leaked.
	Busy map[string]Busy
}

// Taken is a range of addresses on a network that belong to no pod: a node's own address,
// or a range that a scenario lists, for instance for Services or a gateway.
type Taken struct {
	Range   netip.Prefix
	By      Ref    // a node, or something outside
	Network string // its key
}

// Pod is a pod as stored in the API server.
type Pod struct {
	UID      string
	Node     string
	Phase    string
	Deleting bool
	Since    time.Duration // when this object was bound to its node, or stored if it is not bound
	// Waits: before the run the pod had been without a sandbox for longer than its ADDs
	// may take, so that none of them is under way.
	Waits bool
	// Networks are the requested networks: keys of NetworkAttachmentDefinitions, in the order of
	// the pod's annotation.
	Networks []string
}

// Node is the state of a machine.
type Node struct {
	Up          bool // it has power
	Partitioned bool // it has power, but no way to the API server
	Registered  bool // its Node object exists
	Paused      bool // it has power, but its processes do not run
	// Since is when Up, Partitioned or Paused last changed: a call that hung in
	// a partition is not late before it had its time after the partition.
	Since time.Duration
}

// Healthy reports whether a process on the node can run and reach the API
// server.
func (n Node) Healthy() bool { return n.Up && !n.Partitioned && !n.Paused }

// WellSince reports whether it has been healthy since then.
func (n Node) WellSince(at time.Duration) bool { return n.Healthy() && n.Since <= at }

// Busy is one CNI call that has begun and not returned.
type Busy struct {
	Pod       PodRef
	Node      string
	Interface string // "": not known, or all of them
	Del       bool
	Since     time.Duration
	// Unseen: the container of the call, and whether there is a call, are unknown. A dump
	// of a cluster contains no more about a pod without an address.
	Unseen bool
}
