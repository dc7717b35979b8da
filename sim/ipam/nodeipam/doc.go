// Package nodeipam is the node IPAM controller of Kubernetes as an address manager: its
// unmodified RangeAllocator, which hands each node its podCIDRs, in
// kube-controller-managers that elect their leader.
//
// The record are the podCIDRs of the Node objects. A pod gets its addresses as with
// Calico's usePodCIDR: the CNI plugin reads them off the Node and executes the real
// host-local on the node's disk.
package nodeipam
