package nodeipam

import (
	"context"
	"fmt"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/hostlocal"
)

// add reads the node's podCIDRs, and has host-local give an address of each.
//
// Source: projectcalico/calico/cni-plugin/pkg/k8s/k8s.go, CmdAddK8s and getPodCidrs, with
// usePodCIDR (v3.31).
func (i *instance) add(ctx context.Context, g *sim.Gate, c ipam.Call) (r ipam.Result, err error) {
	cidrs, err := hostlocal.PodCIDRs(ctx, i.env.API.Transport(g), c.Node)
	if err != nil {
		return r, err
	}
	if len(cidrs) == 0 {
		return r, fmt.Errorf("no podCidr for node %s", c.Node)
	}
	config, err := hostlocal.WithSubnets(c.Config, cidrs)
	if err != nil {
		return r, err
	}
	return i.disks.Add(ctx, g, c, config)
}

// del has host-local release what the container was given.
//
// Source: as of add, CmdDelK8s.
func (i *instance) del(ctx context.Context, g *sim.Gate, c ipam.Call) error {
	config, err := hostlocal.WithSubnets(c.Config, []string{hostlocal.Anywhere})
	if err != nil {
		return err
	}
	return i.disks.Del(ctx, g, c, config)
}
