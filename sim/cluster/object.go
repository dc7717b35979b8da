package cluster

import (
	"ipamsim/sim/ipam"
)

// Object is a Kubernetes manifest as the scenario gave it.
type Object = ipam.Object

// keeps is the manager's own datastore, if it is where objects of a kind live.
func (c *Cluster) keeps(kind string) *ipam.Keep {
	if k := c.inst.Keep; k != nil && k.Keeps(kind) {
		return k
	}
	return nil
}

// orDefault is the namespace kubectl takes when none is said.
func orDefault(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}
