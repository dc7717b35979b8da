package cluster

import (
	"context"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Object is a Kubernetes manifest as the scenario gave it.
type Object = ipam.Object

// Keeps is the manager's own datastore, if it is where objects of a kind live.
func (c *Cluster) Keeps(kind string) *ipam.Keep {
	if k := c.inst.Keep; k != nil && k.Keeps(kind) {
		return k
	}
	return nil
}

// Kinds are those that the API server serves, by name; see kubeapi.Kinds. They must not be
// changed.
func (c *Cluster) Kinds() map[string]kubeapi.Resource { return c.kinds }

// Cache is what is stored of pods and nodes.
func (c *Cluster) Cache() *kubeapi.Cache { return c.stored }

// Client sends a process's requests.
func (c *Cluster) Client(g *sim.Gate) kubeapi.Client { return kubeapi.New(c.api.Door(g)) }

// World is the run.
func (c *Cluster) World() *sim.World { return c.w }

// Config is what the cluster was made of. It must not be changed.
func (c *Cluster) Config() *Config { return &c.cfg }

// Tool runs a command line of the manager's own tool and returns what it prints; nil if
// the manager has none.
func (c *Cluster) Tool() func(context.Context, *sim.Gate, []string) (string, error) {
	return c.inst.Command
}
