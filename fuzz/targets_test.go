// Package fuzz_test has the native targets of go test -fuzz. Each is a few lines on top of
// fuzz/input, which converts any bytes to a scenario and a schedule; judge_test.go decides what a
// failure is.
//
//	make fuzz TARGET=FuzzCalico T=2m
package fuzz_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/reports/golden/testfiles"
	"ipamsim/scenarios/dump/dumptest"
	"ipamsim/sim/etcd/twin"
)

// FuzzCalico: worlds of Calico.
func FuzzCalico(f *testing.F) { fuzzRuns(f, "FuzzCalico") }

// FuzzCalicoLb: worlds of Calico's LoadBalancer IPAM.
func FuzzCalicoLb(f *testing.F) { fuzzRuns(f, "FuzzCalicoLb") }

// FuzzHostLocal: worlds of host-local.
func FuzzHostLocal(f *testing.F) { fuzzRuns(f, "FuzzHostLocal") }

// nodeCommands are the rules and routes of a node in a terminal.
const nodeCommands = "[root@n1 ~]# ip rule\n0:\tfrom all lookup local\n99:\tnot from all fwmark 0x1/0x1 lookup 100\n100:\tfrom 10.0.0.0/24 to 10.1.0.0/16 goto 200\n" +
	"32766:\tfrom all lookup main suppress_prefixlength 0\n[root@n1 ~]# ip route show table 100\nblackhole 10.0.0.0/26 proto bird\n" +
	"[root@n1 ~]# ip -j rule\n[{\"priority\":0,\"src\":\"all\",\"table\":\"local\"}]\n[root@n1 ~]# \n"

// FuzzImport: any bytes that are imported as a dump, pasted text or an archive are refused with an
// error of one line, or become a scenario that loads.
func FuzzImport(f *testing.F) {
	for _, name := range []string{
		"calico.json", "check.txt", "export.txt", "show.txt", "tkg.yaml", "whereabouts.yaml",
		"truth/metallb-bgp/dump.yaml", "truth/k3s-hostlocal/dump.yaml", "truth/gateway-in-use/dump.yaml",
	} {
		text, err := os.ReadFile(filepath.Join("../scenarios/dump/testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		if name == "tkg.yaml" {
			for _, pasted := range dumptest.Archives(text) {
				f.Add(pasted)
			}
			f.Add(append(slices.Clone(text), nodeCommands...))
		}
		if strings.Contains(name, "k3s") {
			f.Add(append(slices.Clone(text), "root@a1:~# ls -l /var/lib/cni/networks/cbr0\n10.42.0.18\n10.42.0.30\nlock\nroot@a1:~# \n"...))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := dumptest.Check(managers.All(), text)
		if err := errors.Join(err, count(func(*tally) {})); err != nil {
			t.Error(err)
		}
	})
}

// FuzzMetallb: worlds of MetalLB.
func FuzzMetallb(f *testing.F) { fuzzRuns(f, "FuzzMetallb") }

// FuzzMixed: Calico and Whereabouts in one cluster.
func FuzzMixed(f *testing.F) { fuzzRuns(f, "FuzzMixed") }

// FuzzServices: worlds of Services and API servers.
func FuzzServices(f *testing.F) { fuzzRuns(f, "FuzzServices") }

// FuzzNodeipam: worlds of Kubernetes' node IPAM.
func FuzzNodeipam(f *testing.F) { fuzzRuns(f, "FuzzNodeipam") }

// FuzzReconcilers: concurrent passes of Whereabouts' reconciler during churn.
func FuzzReconcilers(f *testing.F) { fuzzRuns(f, "FuzzReconcilers") }

// FuzzWhereabouts: worlds of Whereabouts.
func FuzzWhereabouts(f *testing.F) { fuzzRuns(f, "FuzzWhereabouts") }

// FuzzScenarioFile: the loader never panics, refuses with an error of one line, and never accepts a
// file that it cannot print and load again.
func FuzzScenarioFile(f *testing.F) {
	for _, dir := range []string{"bad", "good"} {
		files, err := testfiles.All(filepath.Join("../scenarios/testdata", dir), ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := input.PrintsBack(managers.All(), text)
		if err := errors.Join(err, count(func(*tally) {})); err != nil {
			t.Error(err)
		}
	})
}

// FuzzStore: any program of operations, including watches and leases, has the same results on the
// store in memory, on etcd behind the bridge, and on etcd itself.
func FuzzStore(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(input.Choices(seed))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		s, err := server()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(twin.Play(s, program), count(func(*tally) {})); err != nil {
			t.Error(err)
		}
	})
}
