package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinked: a build stops at a symbol that ipamsim reaches by name and that is gone or
// has another signature than when ours was declared, whether it is a function or a
// variable; -update records what there is now.
func TestLinked(t *testing.T) {
	const queues = "k8s.io/client-go/util/workqueue"
	for _, c := range []struct{ name, symbol, recorded, want string }{
		{"function recorded", queues + ".NewTyped", "", ""},
		{"function with another signature", queues + ".NewTyped", "0123456789abcdef", "NewTyped is func"},
		{"variable recorded", queues + ".globalMetricsProvider", "", ""},
		{"variable of another type", queues + ".globalMetricsProvider", "0123456789abcdef", "globalMetricsProvider is var"},
		{"gone", "k8s.io/client-go/tools/cache.neverExitWatch", "0123456789abcdef", "no k8s.io/client-go/tools/cache.neverExitWatch"},
		{"of Go", "runtime.simSetSeed", "", ""},
		{"a generated package's", "ipamsim/sim/ipam/metallb/upstream/program.main", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			table := filepath.Join(dir, "linked.txt")
			ours := "package p\n\nimport _ \"unsafe\"\n\n//go:linkname it " + c.symbol + "\nfunc it()\n"
			if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(ours), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(table, []byte(c.symbol+" "+c.recorded+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if c.recorded == "" {
				if err := linked(dir, table, true); err != nil {
					t.Fatal(err)
				}
			}
			err := linked(dir, table, false)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "p.go:5")):
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
