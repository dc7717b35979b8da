package scenarios

import (
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/ipam/mixed"
	"ipamsim/sim/ipam/whereabouts"
)

// adapters is the list of address managers, by name.
func adapters() map[string]ipam.Adapter {
	out := map[string]ipam.Adapter{}
	all := []ipam.Adapter{calico.New(), canary.New(), whereabouts.New(), mixed.New(calico.New(), whereabouts.New())}
	for _, a := range all {
		out[a.Name()] = a
	}
	return out
}
