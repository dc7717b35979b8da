// Package canary is an address manager that is wrong on purpose. An oracle that
// was never red proves nothing, so for every invariant there is a bug here,
// switched on by name in a network's configuration, that makes it fire:
//
//	{"type": "macvlan", "ipam": {"type": "canary", "range": "10.0.0.0/29", "bug": "duplicate-address"}}
//
// Without "bug" it is a small allocator that is right under every schedule, and
// the oracles must stay silent. All claims under one network_name live in one
// CanaryPool object, its ledger, and every change is a compare-and-swap on its
// resourceVersion, so that claims and reservations cannot come apart. A claim
// belongs to a container; DEL releases by container; the reconciler releases
// what belongs to a pod object (by UID, not by name) that no longer exists.
//
// With "blocks", a prefix length, nodes claim blocks of the range and hand out of
// them, as Calico's do; "strict" and "maxBlocks" are StrictAffinity and
// MaxBlocksPerHost. A node gives a block back with its last address.
//
// What it takes for granted is the contract of Kubernetes: a pod object is there
// until its containers have ended, unless somebody deletes it by force, and a
// read that does not ask for an old revision is not served one.
package canary
