// Package calico is Calico's IPAM as a small state machine: what libcalico-go's
// allocator, the CNI plugin, calico-node's tunnel addresses and the garbage
// collector of kube-controllers do when nobody else does anything meanwhile. For
// every history of operations one after another it says which address the real
// code (v3.31.0) hands out, or why it refuses, and what the record is then.
//
// It is written after upstream's code and held against it by TestConformance in
// sim/ipam/calico; it imports nothing of it. An Allocator is the datastore with
// the operations on it; a Collector is what one garbage collector remembers
// between its passes. Neither reads a clock: times are arguments.
//
// # What upstream leaves to the runtime
//
// Upstream walks through some Go maps, whose order is nobody's to predict: in
// which order addresses that one call releases return to the end of their block's
// free list, which family of leaked addresses of no pool a pass releases, and which
// of several spare empty blocks of a node goes. And a call
// that releases more than two addresses works on their blocks at once, with one
// object for each handle, unguarded: a handle with addresses in two of the blocks
// may be counted down twice. The reference takes things in order of their
// addresses, one after the other, unless Allocator.Whim says what happened.
//
// # What is not modelled
//
// An input that needs one of these is refused with ErrNotModelled:
//
//   - pools with blocks of one address (/32, /128): upstream searches them from
//     where the clock says;
//   - two pools of one prefix, and selectors beyond all(), has, ==, !=, in, not in,
//     !, && and ||;
//   - allocations without a handle, and handles that the Kubernetes datastore
//     would store under one name because they differ in case only;
//   - more than one address of a family for a pod;
//   - a pass that finds more than 10,000 leaks: upstream releases any 10,000.
//
// These have no input: Windows, addresses of Services, WireGuard's tunnel
// addresses, migration from Flannel, nodes that are not Kubernetes' or have another
// name there, objects of versions before v3.30, host-local IPAM, and everything
// that needs two at once: conflicts, retries, affinities that are not confirmed,
// and what a process that dies halfway leaves behind.
//
// # Cost
//
// An allocation from a node's own blocks depends on the number of that node's
// affinities and of pools, not of blocks; a new or a borrowed block is found by
// binary search. With the DEL before it, it takes some 150 ns, and what the machine
// needs to fetch half a dozen places of memory: among 150,000 pods more than the
// rest. Who asks by name (Add, Del) pays for finding the names again; Resolve finds
// them once. A pass of the collector looks at blocks that were written since the one
// before, at nodes that came, went or are gone, and at allocations of pods that
// changed (Pods.Changed), or else at all. Some 250 bytes go with each pod, without
// its names, and 430 more with a collector.
package calico
