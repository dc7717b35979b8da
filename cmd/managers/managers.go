// Package managers is the list of the address managers that come with ipamsim, and the
// one place outside of their own folders that names them.
package managers

import (
	"sync"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/ipam/mixed"
	"ipamsim/sim/ipam/whereabouts"
	"ipamsim/sim/strategy"
)

// All are the managers, in the order in which the schema lists them. They are made once;
// call it outside of bubbles first.
var All = sync.OnceValue(func() []*ipam.Manager {
	c, w := calico.New(), whereabouts.New()
	c.Parts = []any{strategy.Racing}
	return []*ipam.Manager{w, c, canary.New(), mixed.New(c, w)}
})
