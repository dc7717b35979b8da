// Package store is Calico's datastore in a run: upstream's own clients over etcd or over the
// Kubernetes API, with each message through the gate of its process.
package store
