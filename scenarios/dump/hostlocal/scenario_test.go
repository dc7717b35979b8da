package hostlocal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/cluster"
)

// scenarioOf is the scenario of some files, and its report.
func scenarioOf(t *testing.T, o dump.Options, all ...string) (*scenarios.Scenario, *dump.Report, string) {
	t.Helper()
	c := dump.New(managers.All())
	if err := texts(all...)(c); err != nil {
		t.Fatal(err)
	}
	text, report, err := c.Scenario(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Parse("S", text)
	if err != nil {
		t.Fatal(err)
	}
	return s, report, string(text)
}

// claimed are the claims of a record: node, address and container.
func claimed(v *scenarios.View) (out []string) {
	for _, c := range v.Record.Claims {
		out = append(out, fmt.Sprintf("%s %s %s", c.Node, c.Addr, c.Container))
	}
	slices.Sort(out)
	return out
}

// The scenario begins with the files of the listing, before a run and in it, and with those of pods on nodes without a
// listing. A pod that waits gets none of their addresses.
func TestScenario(t *testing.T) {
	grep := "root@n1:~# grep . /var/lib/cni/networks/cbr0/10.*\n"
	for _, f := range []string{"10.0.1.2:aaaaaaaaaaaa", "10.0.1.3:cccccccccccc", "10.0.1.4:bbbbbbbbbbbb", "10.0.1.6:dddddddddddd"} {
		grep += "/var/lib/cni/networks/cbr0/" + f + "\n"
	}
	s, report, text := scenarioOf(t, dump.Options{}, "dump.yaml", dumped(pod("new", "n1", "Pending", "")), "n1.txt", grep)
	if m := report.Managers; len(m) != 2 || m[0].Name != "host-local" || m[1].Name != "nodeipam" || report.Pods != 2 {
		t.Errorf("%+v, %d pods", m, report.Pods)
	}
	v, err := scenariotest.Runner(t).Inspect(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	listed := []string{"n1 10.0.1.2 aaaaaaaaaaaa", "n1 10.0.1.3 cccccccccccc", "n1 10.0.1.4 bbbbbbbbbbbb", "n1 10.0.1.6 dddddddddddd"}
	if got := claimed(v); len(got) != 5 || !slices.Equal(got[:4], listed) || !strings.HasPrefix(got[4], "n2 10.0.2.2 ") {
		t.Errorf("before a run: %q", got)
	}
	if strings.Contains(text, "cbr0/10.0.1.2") {
		t.Error("the file of a running pod is written twice")
	}
	var end *scenarios.View
	rep, err := scenariotest.Runner(t).Run(context.Background(), s, scenarios.Options{End: func(c *cluster.Cluster) {
		if end, err = c.Checker.Snapshot(); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := claimed(end)
	for _, c := range listed {
		if !slices.Contains(got, c) {
			t.Errorf("in the run: no %q in %q", c, got)
		}
	}
	if !slices.ContainsFunc(got, func(c string) bool { return strings.HasPrefix(c, "n1 10.0.1.5 ") }) {
		t.Errorf("d/new has not the one free address: %q", got)
	}
	leaks := 0
	for _, x := range rep.Violations {
		if x.Invariant == "leaked-claim" {
			leaks++
		}
	}
	if leaks != 3 {
		t.Errorf("%d leaks in the run, want 3", leaks)
	}
}

// A cluster with Calico has its scenario, and what is not part of one is reported.
func TestLeftOut(t *testing.T) {
	_, report, text := scenarioOf(t, dump.Options{}, "dump.yaml", dumped(), "n1.txt", "root@n1:~# ls /var/lib/cni/networks/cbr0\n10.0.1.2\n10.0.1.4\n", "n2.txt", "root@n2:~# ls /var/lib/cni/networks/lan\n192.168.7.4\n")
	if !strings.Contains(strings.Join(report.Left, "\n"), "host-local's files of lan") || strings.Contains(text, "192.168.7.4") {
		t.Errorf("%q\n%s", report.Left, text)
	}
	_, report, text = scenarioOf(t, dump.Options{Anonymise: true, Addresses: true}, "dump.yaml", dumped(), "n1.txt", "root@n1:~# ls /var/lib/cni/networks/secret-net\n10.0.1.2\n10.0.1.4\n")
	for _, secret := range []string{"secret-net", "10.0.1.", "ipamsim.dev/files"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in the anonymised scenario:\n%s", secret, text)
		}
	}
	if !strings.Contains(strings.Join(report.Left, "\n"), "1 files of host-local for no running pod on a node") {
		t.Errorf("%q", report.Left)
	}
	pool := "--- # ippools.crd.projectcalico.org\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: crd.projectcalico.org/v1, kind: IPPool, metadata: {name: p}, spec: {cidr: 10.9.0.0/16, nodeSelector: all()}}\n"
	s, _, _ := scenarioOf(t, dump.Options{}, "dump.yaml", dumped()+pool, "n1.txt", "root@n1:~# ls /var/lib/cni/networks/cbr0\n10.0.1.2\n10.0.1.4\n")
	if s.Manager().Name != "calico" {
		t.Errorf("the scenario is of %s", s.Manager().Name)
	}
}
