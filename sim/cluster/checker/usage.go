package checker

import (
	"maps"
	"slices"

	"ipamsim/sim"
)

// Used is how much of what is scarce was taken: at the end of the run, and at the
// most at any time.
type Used struct {
	Addresses, Blocks, Routes             int
	AddressesMost, BlocksMost, RoutesMost int
	// AddressesKept is AddressesMost without what an ADD under way had taken, which it
	// gives back if it is refused.
	AddressesKept int
}

// count brings it up to date: addresses that are claimed, blocks that there are,
// routes in the tables of all nodes and routers. Called with mu held.
func (u *Used) count(c *Checker) {
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
func (c *Checker) Used() Used {
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
