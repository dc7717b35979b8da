// Package canary is an address manager with deliberate bugs. An oracle that never failed
// proves nothing. So for every invariant there is a bug here that breaks it. The configuration
// of a network switches a bug on by name:
//
//	{"type": "macvlan", "ipam": {"type": "canary", "range": "10.0.0.0/29", "bug": "duplicate-address"}}
//
// Without "bug" it is a small allocator that is correct under every schedule, and
// no oracle may fail. All claims under one network_name are in one
// CanaryPool object, its ledger. Every change is a compare-and-swap on its
// resourceVersion, so that claims and reservations stay consistent. A claim
// belongs to a container; DEL releases by container; the reconciler releases
// the claims of pod objects (by UID, not by name) that no longer exist.
//
// With "blocks", a prefix length, nodes claim blocks of the range and hand out of
// them, as Calico's do; "strict" and "maxBlocks" are StrictAffinity and
// MaxBlocksPerHost. A node gives a block back with its last address.
//
// It relies on two guarantees of Kubernetes: a pod object exists until its containers have
// ended, unless it is deleted by force, and a read returns an old revision only if the request
// allows that.
package canary
