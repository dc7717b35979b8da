//go:build noslices

package whereabouts

import (
	"context"
	"errors"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/types"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// Up to Whereabouts 0.8 there are no node slices: cmd/fork has this file compiled in the
// place of nodeslicecontroller.go with a release that lacks them (copies.txt).

// slicing is the process that cuts node slices: none.
var slicing []ipam.Process

var errNoSlices = errors.New(model.NotInRelease + "Whereabouts has no node slices")

func (i *instance) nodeSliceController(context.Context, *sim.Gate, string) error {
	return errNoSlices
}

// slice refuses a network that asks for slices, which upstream's parser does not see.
func slice(in []byte, _ *types.IPAMConfig) (int, error) {
	conf, err := decode(in)
	if err != nil {
		return 0, err
	}
	if ipam, _ := get(conf, "ipam").(object); ipam != nil && get(ipam, "node_slice_size") != nil {
		return 0, errNoSlices
	}
	return 0, nil
}
