// Package whereabouts is a reference model of Whereabouts 0.9.4 as a small state
// machine, for operations that do not overlap. A Record is the content of the
// datastore; Add, Del, Reconcile and Cut change it exactly as the CNI plugin,
// ip-reconciler and the node-slice controller do, down to the address. It serves two
// purposes: conformance tests compare the real code with it, and capacity plans use
// it for clusters that are too large to simulate.
//
// It includes upstream's unexpected behaviour: a DEL stops at the first range
// without an allocation of its container, or without a reservation; a DEL also
// deletes the reservation of another pod; an ADD has ten seconds and a client that
// sends five requests a second, so it fails when too many low addresses are reserved
// through other ranges; an allocation whose address is reserved for another pod is
// never released; a slice ignores the excludes of its range; the gateway is an
// address like any other.
//
// Not modelled, and refused with an error wrapping ErrNotModelled where an
// operation needs it:
//   - addresses 2^63 or more behind the start of their range, where upstream
//     loses its allocations;
//   - ranges that begin with "::", whose pools have no valid name, ranges without
//     a usable address, and pools of two ranges under one name;
//   - one container id for two pods, and a pod without a name;
//   - which of several new nodes gets which slice (upstream iterates over a Go map),
//     two networks that share their slices, and slices of IPv6.
//
// Also not modelled, because no operation here can need it: concurrent processes,
// failed or lost requests, latency (all times assume a datastore that answers
// immediately), leases, the pod control loop, deletion of a network's definition,
// and static addresses.
package whereabouts
