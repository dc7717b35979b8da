// Package record reads what Calico's datastore says of addresses, the etcdv3 and the
// Kubernetes one alike: as a snapshot that is kept up to date by changes, and as what
// one message did to it.
package record
