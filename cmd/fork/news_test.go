package main

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestPlantedIsNew checks that, with all known causes of the releases, a search reports a new cause for every plant
// that breaks an address manager. Its reports about the release itself in as many worlds do not count.
//
// It prints a row of reports/PLANTS.md for each plant.
func TestPlantedIsNew(t *testing.T) {
	if !*planted {
		t.Skip("SKIP: takes half an hour; make planted")
	}
	clone(t)
	g := newGarden(t)
	control := map[string][]string{}
	fmt.Println("| plant | file of upstream | worlds of | seed | worlds run | NEW | cause | date |\n|---|---|---|---|---:|---|---|---|")
	for _, p := range slices.Concat(further, plants) {
		if p.module == "" || p.kind == "cost" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if _, have := control[p.module]; !have {
				control[p.module] = g.control(t, p.module)
			}
			g.isNew(t, &p, control[p.module])
		})
	}
}

// control returns the reports of a search about the release itself.
func (g *garden) control(t *testing.T, module string) []string {
	t.Helper()
	release := g.link(t, "release", "-overlay="+g.overlay)
	causes := []string{}
	for _, f := range g.search(t, release, module, 0, manyKinds) {
		causes = append(causes, f.Cause)
		fmt.Printf("the release alone: %s (%s, seed %d)\n", f.Cause, f.Target, f.Seed)
	}
	return causes
}

// manyKinds is more than a search finds.
const manyKinds = 1000

// isNew searches for one plant: where it was found before, then everywhere.
func (g *garden) isNew(t *testing.T, p *plant, control []string) {
	began := time.Now()
	binary := g.build(t, p)
	built := time.Since(began)
	var seen []news
	for _, first := range slices.Compact([]uint64{p.first, 0}) {
		seen = g.search(t, binary, p.module, first, 1+len(control))
		seen = slices.DeleteFunc(seen, func(f news) bool { return slices.Contains(control, f.Cause) })
		if len(seen) > 0 {
			break
		}
	}
	t.Logf("%s\nbuilt in %s, searched for %s", p.what, built.Round(time.Second), (time.Since(began) - built).Round(time.Second))
	if len(seen) == 0 {
		fmt.Printf("| %s | %s | - | - | - | no | | %s |\n", p.name, p.file, time.Now().UTC().Format(time.DateOnly))
		t.Errorf("%s: nothing that a search found in %s is new", p.name, *searchMax)
		return
	}
	f := slices.MinFunc(seen, func(a, b news) int { return cmp.Compare(a.Worlds, b.Worlds) })
	seed := "corpus"
	if f.Seed > 0 {
		seed = strconv.FormatUint(f.Seed, 10)
	}
	fmt.Printf("| %s | %s | %s | %s | %d | NEW | %s | %s |\n", p.name, p.file, f.Target, seed, f.Worlds, f.Cause,
		time.Now().UTC().Format(time.DateOnly))
}

// search is what a program finds in worlds of an address manager whose cause is on no list.
func (g *garden) search(t *testing.T, binary, module string, first uint64, kinds int) (out []news) {
	t.Helper()
	_, _, all := g.gate(t, binary, quiet[module], "--search", *searchMax, "--first", strconv.FormatUint(first, 10), "--kinds", strconv.Itoa(kinds), "--out", t.TempDir())
	for _, r := range all {
		if r.found != nil {
			out = append(out, *r.found)
		}
	}
	return out
}

// quiet are scenarios in which nothing is wrong: with one a gate searches the worlds of
// its address manager.
var quiet = map[string]string{calico: "scenarios/ok-collector-frees.yaml", whereabouts: "scenarios/ok-reconciler-frees.yaml"}

// searchMax is several times what the slowest plant needs on two processors that are otherwise idle.
var searchMax = flag.String("search", "2m", "with -planted: how long to search for each plant")
