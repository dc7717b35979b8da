package ctl

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
)

func releaseOptions(o flags) error {
	if o["--ip"] == nil && len(reportsOf(o)) == 0 {
		return errors.New("calico: calicoctl ipam release without --ip and --from-report would do nothing")
	}
	return checkIP(o)
}

// reportsOf are the files of --from-report.
func reportsOf(o flags) []string {
	files, _ := o["--from-report"].([]string)
	return files
}

// releaseQPS is its limit of requests a second.
const releaseQPS = 100

// runRelease is calicoctl ipam release. Upstream's messages and texts for a single address are in
// the function that also reads the configuration file, so they are repeated here.
//
// Source: calicoctl/calicoctl/commands/ipam/release.go, Release.
func runRelease(ctx context.Context, op *execution, o flags) (string, error) {
	c, err := op.ds.Client(op.gate, releaseQPS)
	if err != nil {
		return "", err
	}
	if files := reportsOf(o); len(files) > 0 {
		return op.releaseReports(ctx, c, files, o["--force"] == true)
	}
	ip := netip.MustParseAddr(o["--ip"].(string)).Unmap() // checked
	missed, err := missing(ctx, c.IPAM(), libipam.ReleaseOptions{Address: ip.String()})
	if err != nil {
		return "", fmt.Errorf("%s: %v", sorry, err)
	}
	if len(missed) > 0 {
		return "", fmt.Errorf("IP address %s is not assigned", ip)
	}
	return fmt.Sprintf("Successfully released IP address %s\n", ip), nil
}
