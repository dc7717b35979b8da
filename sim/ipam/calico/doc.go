// Package calico runs the real Calico v3.31.0 in the simulated cluster: the allocator of
// libcalico-go over its etcdv3 or its Kubernetes datastore, CNI ADD and DEL of Calico's plugins,
// calico-node's tunnel addresses, the IPAM controller of kube-controllers, and calicoctl.
//
// Upstream's code above its client interfaces is unchanged and complete. A process has two
// connections: backend/api.Client of the etcdv3 datastore, whose every call is a message at the
// process's gate, and the Kubernetes API.
//
// Package store has the datastores, record the claims in them, objects the objects that operators
// write, ctl calicoctl. This package has the plugins, the controllers and the daemons of a node.
package calico
