// Package record reads the addresses in Calico's datastore, etcdv3 or Kubernetes: as a snapshot
// that changes keep up to date, and as the effect of one message.
package record
