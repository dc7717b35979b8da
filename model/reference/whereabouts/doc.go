// Package whereabouts is a reference for Whereabouts 0.9.4: what the real code
// does when one operation follows another, said again as a small state machine.
// A Record is what the datastore holds; Add, Del, Reconcile and Cut are what the
// CNI plugin, ip-reconciler and the node-slice controller make of it, down to the
// address. It serves two ends: the real code is compared with it, history by
// history, and clusters are planned with it that are too large to simulate.
//
// What upstream does that nobody would expect is part of it: a DEL stops at the
// first range without an allocation of its container, or without a reservation;
// a reservation is deleted whosever it is; an ADD has ten seconds and a client
// that sends five requests a second, so it gives up when too many low addresses
// are reserved through other ranges; an own allocation whose address somebody
// else reserved is never given up; a slice forgets the excludes of its range; the
// gateway is an address like any other.
//
// Not modelled, and refused with an error wrapping ErrNotModelled where an
// operation needs it:
//   - addresses 2^63 or more behind the start of their range, where upstream
//     forgets its allocations;
//   - ranges that begin with "::", whose pools have no valid name, ranges without
//     a usable address, and pools of two ranges under one name;
//   - one container id for two pods, and a pod without a name;
//   - which of several new nodes gets which slice (upstream asks a Go map), two
//     networks that share their slices, and slices of IPv6.
//
// Nor are there, because no operation here can need it: two processes at once,
// failing or lost requests and latency (all that is said about time holds for a
// datastore that answers at once), leases, the pod control loop, deletion of a
// network's definition, static addresses.
package whereabouts
