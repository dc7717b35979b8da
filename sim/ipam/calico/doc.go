// Package calico puts the real Calico v3.31.0 into the simulated cluster: the
// allocator of libcalico-go over its etcdv3 or its Kubernetes datastore, CNI ADD
// and DEL as Calico's IPAM plugin makes them, calico-node's tunnel addresses, the
// IPAM controller of kube-controllers, and calicoctl.
//
// Nothing of upstream is changed or left out below its own client interfaces.
// A process has two ways out: backend/api.Client of the etcdv3 datastore,
// whose every call is a message at the process's gate, and the Kubernetes API.
//
// store is its datastores, record what they say of addresses, objects what operators
// write, ctl calicoctl; here are the plugins, the controllers and what is a node's.
package calico
