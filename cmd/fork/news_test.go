package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPlantedIsNew: with all that is known of the releases, a search says of every plant
// that breaks something in an address manager that there is a failure whose cause is new.
func TestPlantedIsNew(t *testing.T) {
	if !*planted {
		t.Skip("SKIP: takes an hour; make planted")
	}
	clone(t)
	g := newGarden(t)
	for _, p := range slices.Concat(further, plants) {
		if p.module == "" || p.kind == "cost" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			binary := g.build(t, &p)
			began := time.Now()
			_, said, found := g.gate(t, binary, quiet[p.module], "--search", searchMax, "--out", t.TempDir())
			n := 0
			for _, r := range found {
				if r.scenario == "search" && r.kind == "new-violation" && r.level == "error" {
					t.Logf("%s: %s", r.rule, r.text)
					n++
				}
			}
			t.Logf("%s\n%d new in %s: %s", p.what, n, time.Since(began).Round(time.Second), said[:max(0, strings.Index(said, "\n"))])
			if n == 0 {
				t.Errorf("%s: nothing that a search found in %s is new:\n%s", p.name, searchMax, said)
			}
		})
	}
}

// quiet are scenarios in which nothing is wrong: with one a gate searches the worlds of
// its address manager.
var quiet = map[string]string{calico: "scenarios/ok-collector-frees.yaml", whereabouts: "scenarios/ok-reconciler-frees.yaml"}

// searchMax is several times what the slowest plant needs on two processors.
const searchMax = "5m"
