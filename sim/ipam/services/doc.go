// Package services is how the API servers of Kubernetes hand out the cluster IPs and node
// ports of Services: the unmodified storage of Services with its allocators, the repair
// loops and the controller of the default ServiceCIDR, in kube-apiservers that are
// processes over one etcd, and the controller of ServiceCIDRs in a
// kube-controller-manager.
//
// The record are the Services, IPAddresses and ServiceCIDRs, and the bitmap of node ports
// in etcd. A user's request goes to one of the API servers that are ready, which the
// schedule chooses, or with kubectl --server to a certain one.
package services
