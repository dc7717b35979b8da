//go:build !calico330

package ctl

import (
	"context"

	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
)

// sorry is the beginning of calicoctl's text for a failed call.
const sorry = "error"

// missing are the requested addresses that were not assigned.
func missing(ctx context.Context, c libipam.Interface, ips ...libipam.ReleaseOptions) ([]cnet.IP, error) {
	out, _, err := c.ReleaseIPs(ctx, ips...)
	return out, err
}

func (r releasingIPAM) ReleaseIPs(ctx context.Context, ips ...libipam.ReleaseOptions) ([]cnet.IP, []libipam.ReleaseOptions, error) {
	type answer struct {
		missed   []cnet.IP
		released []libipam.ReleaseOptions
	}
	a, err := away(ctx, r.screen, func(ctx context.Context) (a answer, err error) {
		a.missed, a.released, err = r.Interface.ReleaseIPs(ctx, ips...)
		return a, err
	})
	return a.missed, a.released, err
}
