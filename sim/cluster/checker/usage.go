package checker

import (
	"maps"
	"slices"

	"ipamsim/model"
	"ipamsim/sim"
)

// count brings the usage up to date: addresses that are claimed, blocks that there are,
// routes in the tables of all nodes and routers. Called with mu held.
func (c *Checker) count() {
	u := &c.used
	u.Addresses, u.Blocks, u.Routes = len(c.recorded.Claims), 0, 0
	for _, n := range c.networksLocked() {
		for i := range c.recorded.Pools {
			if n.Blocks != nil && n.Owns(&c.recorded.Pools[i]) {
				u.Blocks++
			}
		}
	}
	if c.routing != nil {
		u.Routes = c.routing.net.Size()
	}
	u.AddressesMost = max(u.AddressesMost, u.Addresses)
	if len(c.calls) == 0 {
		u.AddressesKept = max(u.AddressesKept, u.Addresses)
	}
	u.BlocksMost = max(u.BlocksMost, u.Blocks)
	u.RoutesMost = max(u.RoutesMost, u.Routes)
}

// Used is how much was taken so far.
func (c *Checker) Used() model.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Upstream are the processes that were the address manager's, sorted.
func (c *Checker) Upstream() []sim.ActorID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.upstream))
}
