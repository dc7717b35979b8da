// Package calico is a reference model of Calico's IPAM as a small state machine:
// libcalico-go's allocator, the CNI plugin, calico-node's tunnel addresses and the
// garbage collector of kube-controllers, for operations that do not overlap. For
// every sequence of operations it gives the address that the real code (v3.31.0)
// assigns, or the refusal, and the resulting record.
//
// It follows upstream's code, and TestConformance in sim/ipam/calico compares the
// two; it imports no upstream code. An Allocator is the datastore and the operations
// on it; a Collector is what one garbage collector remembers between its passes.
// Neither reads a clock: times are arguments.
//
// # What upstream leaves to the runtime
//
// Upstream iterates over some Go maps, whose order is unpredictable. It decides in
// which order addresses that one call releases return to the end of their block's
// free list, which family of leaked addresses without a pool a pass releases, and
// which of several spare empty blocks of a node is released. Also, a call that
// releases more than two addresses works on their blocks concurrently, with one
// object for each handle and without a lock: a handle with addresses in two of the
// blocks may be counted down twice. The reference works in the order of addresses,
// one after the other, unless Allocator.Nondeterminism gives the outcome.
//
// # What is not modelled
//
// An input that needs one of these is refused with ErrNotModelled:
//
//   - pools with blocks of one address (/32, /128): upstream starts to search them
//     at a place that depends on the clock;
//   - two pools of one prefix, and selectors beyond all(), has, ==, !=, in, not in,
//     !, && and ||;
//   - allocations without a handle, and handles that the Kubernetes datastore
//     would store under one name because they differ in case only;
//   - more than one address of a family for a pod;
//   - a pass that finds more than 10,000 leaks: upstream releases any 10,000.
//
// The model has no input for: Windows, addresses of Services, WireGuard's tunnel
// addresses, migration from Flannel, nodes that are not Kubernetes nodes or have
// another name there, objects of versions before v3.30, host-local IPAM, and
// everything that needs concurrent operations: conflicts, retries, affinities that
// are not confirmed, and what a process leaves behind that dies halfway.
//
// # Cost
//
// An allocation from a node's own blocks depends on the number of that node's
// affinities and of pools, not of blocks; a new or a borrowed block is found by
// binary search. An ADD and a DEL take some 150 ns plus half a dozen cache misses,
// which dominate with 150,000 pods. Calls by name (Add, Del) look the names up each
// time; Resolve looks them up once. A pass of the collector reads the blocks that
// were written since the previous pass, the nodes that came, went or are gone, and
// the allocations of pods that changed (Pods.Changed; all allocations without it).
// Each pod takes some 250 bytes, without its names, and 430 more with a collector.
package calico
