package capacity

import "time"

// Kind says what an event does.
type Kind uint8

// What happens on a tape.
const (
	// NodeJoins: a node is registered and switched on, for the first time.
	NodeJoins Kind = iota
	// PodStarts: a pod has been bound to a node; its ADD runs. One without an address
	// tries again every Retry until it gets one or is deleted.
	PodStarts
	// PodStops: a pod of a node that is up was deleted: its DEL runs, then the object
	// goes.
	PodStops
	// PodRemoved: the object of a pod goes whose node is down, and nobody runs a DEL
	// unless the node comes back.
	PodRemoved
	// NodeDown: power is lost, and all sandboxes of the node with it.
	NodeDown
	// NodeUp: power is back. The kubelet runs the DEL of every sandbox that it had,
	// then an ADD for each pod that is still bound to it.
	NodeUp
	// NodeDeleted: the Node object is deleted.
	NodeDeleted
	// Pass of the reconciler.
	Pass
	// Look: a Sample is taken.
	Look
)

// Retry is how long a pod that was refused an address waits before it tries again:
// the kubelet's longest back-off.
//
// Source: k8s.io/kubernetes/pkg/kubelet, MaxContainerBackOff.
const Retry = 5 * time.Minute

// Event is one thing that happens. Nodes and pods are numbered from 0 in the order
// in which they come; those that are there at the beginning come first.
type Event struct {
	At   time.Duration
	Kind Kind
	Node int32 // -1 where there is none
	Pod  int32
}
