//go:build !noslices

package whereabouts

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	_ "unsafe" // for linkname

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	_ "ipamsim/sim/ipam/whereabouts/upstream/cmd/nodeslicecontroller" // a program that is called by name
)

// sliceMain is the node-slice-controller.
//
//go:linkname sliceMain ipamsim/sim/ipam/whereabouts/upstream/cmd/nodeslicecontroller.main
func sliceMain()

// slicing is the process that cuts node slices.
var slicing = []ipam.Process{{Name: slicesName, Daemon: true, ClientGo: clientGo}}

// nodeSliceController is the daemon that cuts node slices, until ctx ends.
//
// Upstream lists its nodes in no particular order (sortResults is false), so which
// node gets which slice varies with the seed.
func (i *instance) nodeSliceController(ctx context.Context, g *sim.Gate, node string) error {
	p := i.program(ctx, g, slicesName, node)
	return ended(p.Name, p.Run(sliceMain))
}

// slicesMax bounds the slices of a network: the controller writes all of them
// into one object.
const slicesMax = 4096

// slice is the prefix length of a node's slice. The controller that cuts them
// knows IPv4 and one range only; on others it crashes, or hands out the same
// slice for both.
//
// Source: pkg/iphelpers, DivideRangeBySize; pkg/node-controller, syncHandler.
func slice(_ []byte, c *types.IPAMConfig) (int, error) {
	if c.NodeSliceSize == "" {
		return 0, nil
	}
	bits, err := strconv.Atoi(strings.TrimPrefix(c.NodeSliceSize, "/"))
	if err != nil {
		return 0, fmt.Errorf("node_slice_size: %q is not a prefix length such as \"/26\"", c.NodeSliceSize)
	}
	if len(c.IPRanges) != 1 {
		return 0, fmt.Errorf("node_slice_size: Whereabouts slices exactly one range, not %d", len(c.IPRanges))
	}
	p, err := netip.ParsePrefix(c.IPRanges[0].Range)
	switch {
	case err != nil:
		return 0, fmt.Errorf("range: %w", err)
	case !p.Addr().Is4():
		return 0, fmt.Errorf("node_slice_size: Whereabouts slices IPv4 ranges only, not %s", p)
	case bits < p.Bits():
		return 0, fmt.Errorf("node_slice_size: a slice of /%d is larger than the range %s", bits, p)
	case bits > 30:
		return 0, fmt.Errorf("node_slice_size: a slice of /%d has no usable address: the first and the last one are never given out", bits)
	case bits-p.Bits() > 12:
		return 0, fmt.Errorf("node_slice_size: /%d cuts %s into %d slices, at most %d can be simulated", bits, p, 1<<(bits-p.Bits()), slicesMax)
	}
	return bits, nil
}
