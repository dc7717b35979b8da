//go:build calico330

package ctl

import (
	"context"

	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
)

// sorry is the beginning of calicoctl's text for a failed call.
const sorry = "Error"

// missing are the requested addresses that were not assigned.
func missing(ctx context.Context, c libipam.Interface, ips ...libipam.ReleaseOptions) ([]cnet.IP, error) {
	return c.ReleaseIPs(ctx, ips...)
}

func (r releasingIPAM) ReleaseIPs(ctx context.Context, ips ...libipam.ReleaseOptions) ([]cnet.IP, error) {
	return away(ctx, r.screen, func(ctx context.Context) ([]cnet.IP, error) { return r.Interface.ReleaseIPs(ctx, ips...) })
}
