package cni

import (
	"context"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"

	"ipamsim/sim/ipam/platform"
)

// ExecAdd executes an IPAM plugin's ADD, through CNI's own library.
//
// Source: github.com/containernetworking/plugins/pkg/ipam, ExecAdd (v1.10.0).
func ExecAdd(plugin string, netconf []byte) (types.Result, error) {
	return invoke.DelegateAdd(context.TODO(), plugin, netconf, platform.Exec{From: platform.Current()})
}

// ExecDel executes an IPAM plugin's DEL.
//
// Source: as of ExecAdd.
func ExecDel(plugin string, netconf []byte) error {
	return invoke.DelegateDel(context.TODO(), plugin, netconf, platform.Exec{From: platform.Current()})
}
