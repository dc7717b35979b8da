package ctl

import (
	"context"
	_ "unsafe" // for linkname

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"

	"ipamsim/sim/ipam/calico/store"
)

//go:linkname showIP github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.showIP
func showIP(ctx context.Context, c libipam.Interface, ip any) error

//go:linkname showBlockUtilization github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.showBlockUtilization
func showBlockUtilization(ctx context.Context, c libipam.Interface, blocks bool) error

//go:linkname showBorrowedDetails github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.showBorrowedDetails
func showBorrowedDetails(ctx context.Context, pools clientv3.IPPoolInterface, bc bapi.Client) error

//go:linkname showConfiguration github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.showConfiguration
func showConfiguration(ctx context.Context, c libipam.Interface) error

func showOptions(o flags) error { return checkIP(o) }

// runShow is calicoctl ipam show.
//
// Source: calicoctl/calicoctl/commands/ipam/show.go, Show.
func runShow(ctx context.Context, op *execution, o flags) (string, error) {
	c, err := op.ds.Client(nil, 0)
	if err != nil {
		return "", err
	}
	return op.console.capture(func(*screen) error {
		switch {
		case o["--ip"] != nil:
			return showIP(ctx, c.IPAM(), o["--ip"])
		case o["--show-borrowed"] == true:
			return showBorrowedDetails(ctx, c.IPPools(), store.Backend(c))
		case o["--show-configuration"] == true:
			return showConfiguration(ctx, c.IPAM())
		}
		return showBlockUtilization(ctx, c.IPAM(), o["--show-blocks"] == true)
	})
}
