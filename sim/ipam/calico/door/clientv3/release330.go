//go:build calico330

package clientv3

import "ipamsim/sim/ipam/calico/door"

// NewFromEnv is the process's client: up to 3.30 kube-controllers makes it so.
func NewFromEnv() (Interface, error) { return door.Here().Calico() }
