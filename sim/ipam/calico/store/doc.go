// Package store is where Calico keeps its record in a run: upstream's own clients over
// etcd or over the Kubernetes API, each message through the gate of its process.
package store
