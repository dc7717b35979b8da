package ctl

import (
	"context"
	"fmt"
	"strings"
	_ "unsafe" // for linkname

	cipam "github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam"

	"ipamsim/sim/ipam/calico/store"
)

//go:linkname checkIPAM github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.(*IPAMChecker).checkIPAM
func checkIPAM(c *cipam.IPAMChecker, ctx context.Context) error

// Problems is the result of calicoctl ipam check, if it is not 0: allocated addresses that are not
// used, used ones that are not allocated or in no active pool, and handles without addresses. The
// check does not detect an address of two workloads, missing handles, overlapping blocks, or wrong
// affinities.
type Problems int

func (p Problems) Error() string {
	return fmt.Sprintf("calicoctl ipam check found %d problems", int(p))
}

// Problems is how many there are.
func (p Problems) Problems() int { return int(p) }

func checkOptions(flags) error { return nil }

// runCheck is calicoctl ipam check. The report of --output is kept for release
// --from-report.
//
// Source: calicoctl/calicoctl/commands/ipam/check.go, Check.
func runCheck(ctx context.Context, op *execution, o flags) (string, error) {
	c, err := op.ds.Client(nil, 0)
	if err != nil {
		return "", err
	}
	kc, err := store.KubeClient(op.env.API, nil)
	if err != nil {
		return "", err
	}
	report, err := memory("report")
	if err != nil {
		return "", err
	}
	defer report.Close()
	name, wanted := o["--output"].(string)
	path := ""
	if wanted {
		path = pathOf(report)
	}
	all, problem := o["--show-all-ips"] == true, o["--show-problem-ips"] == true
	checker := cipam.NewIPAMChecker(kc, c, store.Backend(c), all, all || problem, path, store.Version)
	out, err := op.console.capture(func(*screen) error { return checkIPAM(checker, ctx) })
	if err != nil {
		return out, err
	}
	if wanted {
		if op.console.reports[name], err = content(report); err != nil {
			return out, err
		}
	}
	return out, verdict(out)
}

// verdict reads the result from the last line; upstream prints it nowhere else.
func verdict(out string) error {
	const before = "Check complete; found "
	i := strings.LastIndex(out, before)
	if i < 0 {
		return fmt.Errorf("calico: calicoctl ipam check ended without a verdict")
	}
	var n int
	if _, err := fmt.Sscanf(out[i+len(before):], "%d problems.", &n); err != nil {
		return fmt.Errorf("calico: calicoctl ipam check ended with %q: %w", out[i:], err)
	}
	if n > 0 {
		return Problems(n)
	}
	return nil
}
