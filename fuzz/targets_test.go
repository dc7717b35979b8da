// Package fuzz_test holds the native targets of go test -fuzz. Each is a few lines
// over fuzz/input, which makes a scenario and a schedule of any bytes; what counts
// as a failure is in judge_test.go.
//
//	make fuzz TARGET=FuzzCalico T=2m
package fuzz_test

import (
	"errors"
	"os"
	"path/filepath"
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

// FuzzImport: any bytes that are taken for a dump, pasted text or an archive are refused in
// one line, or make a scenario that loads.
func FuzzImport(f *testing.F) {
	for _, name := range []string{"calico.json", "check.txt", "export.txt", "show.txt", "tkg.yaml", "whereabouts.yaml"} {
		text, err := os.ReadFile(filepath.Join("../scenarios/dump/testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		if name == "tkg.yaml" {
			for _, pasted := range dumptest.Archives(text) {
				f.Add(pasted)
			}
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

// FuzzReconcilers: concurrent passes of Whereabouts' reconciler against churn.
func FuzzReconcilers(f *testing.F) { fuzzRuns(f, "FuzzReconcilers") }

// FuzzWhereabouts: worlds of Whereabouts.
func FuzzWhereabouts(f *testing.F) { fuzzRuns(f, "FuzzWhereabouts") }

// FuzzScenarioFile: the loader never panics, refuses in one line, and never
// accepts what it cannot print back.
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

// FuzzStore: any program of operations, watches and leases among them, does the same on
// the store in memory, on etcd under the bridge, and on etcd by itself.
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
