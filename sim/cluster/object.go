package cluster

import (
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Object is a Kubernetes manifest as the scenario gave it.
type Object = ipam.Object

// Keeps is the manager's own datastore, if it is where objects of a kind live.
func (c *Cluster) Keeps(kind string) *ipam.Keep {
	if k := c.Instance.Keep; k != nil && k.Keeps(kind) {
		return k
	}
	return nil
}

// Client sends a process's requests.
func (c *Cluster) Client(g *sim.Gate) kubeapi.Client { return kubeapi.New(c.api.Transport(g)) }

// kinds are the kinds of the initial objects and of those that the script applies.
func (cfg Config) kinds() map[string]bool {
	all := map[string]bool{}
	for _, o := range cfg.Objects {
		all[o.Kind] = true
	}
	for _, e := range cfg.Script {
		if a, ok := e.Action.(interface{ Kind() string }); ok {
			all[a.Kind()] = true
		}
	}
	return all
}
