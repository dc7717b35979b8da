package whereabouts

import (
	"context"

	"ipamsim/sim"
)

// nodeSliceController is the daemon that cuts node slices, until ctx ends.
//
// Upstream lists its nodes in no particular order (sortResults is false), so which
// node gets which slice varies with the seed.
func (i *instance) nodeSliceController(ctx context.Context, g *sim.Gate, node string) error {
	p := i.program(ctx, g, slicesName, node)
	return ended(p.Name, p.Run(sliceMain))
}
