package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ipamsim/cmd/managers"
	"ipamsim/model/capacity/calico"
	reference "ipamsim/model/reference/calico"
	"ipamsim/reports/golden"
	"ipamsim/reports/golden/testfiles"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam/canary"
)

func load(t *testing.T, name string) *plan.Plan {
	t.Helper()
	p, err := plan.Load(managers.All(), filepath.Join("testdata", "good", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Two ways of collecting, four options: eight cells, and each repeat of them has
// one seed.
func TestCells(t *testing.T) {
	p := load(t, "staging")
	var titles []string
	for _, c := range p.Cells {
		titles = append(titles, c.Title())
	}
	want := []string{
		"as it is, 5m", "blocks of /27, 5m", "strict affinity, 5m", "one block per node, 5m",
		"as it is, 0", "blocks of /27, 0", "strict affinity, 0", "one block per node, 0",
	}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Error(diff)
	}
	now, halved, strict, one := p.Cells[0], p.Cells[1], p.Cells[2], p.Cells[7]
	if now.BlockSize != 64 || halved.BlockSize != 32 || now.PoolSize != 256 {
		t.Errorf("blocks of %d and %d of %d addresses", now.BlockSize, halved.BlockSize, now.PoolSize)
	}
	if calico.Of(&now.Cluster).Settings.Strict || !calico.Of(&strict.Cluster).Settings.Strict || calico.Of(&one.Cluster).Settings.MaxBlocks != 1 {
		t.Errorf("configurations %+v %+v %+v", calico.Of(&now.Cluster).Settings, calico.Of(&strict.Cluster).Settings, calico.Of(&one.Cluster).Settings)
	}
	c := now.Cluster
	if calico.Of(&c).Datastore != reference.Kubernetes || c.Load.Pods != 90 || c.Load.Lifetime != 120*time.Hour || c.Trouble.DrainFor != time.Hour ||
		c.Collect.Every != 5*time.Minute || one.Cluster.Collect.Every != 0 || c.Horizon != 30*24*time.Hour || c.Samples != 31 || len(c.Nodes) != 2 || c.Fabric.Topology != "tor" {
		t.Errorf("%+v", c)
	}
	points := p.Points()
	if len(points) != 8*4 {
		t.Fatalf("%d points", len(points))
	}
	seeds := map[uint64]bool{}
	for i, pt := range points {
		if pt.Cell != i%8 || pt.Repeat != i/8 || pt.Engine != plan.Reference || pt.Seed != points[i/8*8].Seed {
			t.Errorf("point %d: %+v", i, pt)
		}
		seeds[pt.Seed] = true
	}
	if len(seeds) != 4 {
		t.Errorf("%d seeds", len(seeds))
	}
}

// A plan needs no manifest: what settings say is enough.
func TestBare(t *testing.T) {
	p := load(t, "bare")
	c := p.Cells[1].Cluster
	if len(p.Cells) != 4 || len(c.Nodes) != 10 || calico.Of(&c).Pools[0].Prefix.String() != "10.0.0.0/20" || calico.Of(&c).Datastore != reference.Kubernetes ||
		c.Load.PodsPerNode.Mean != 20 || c.Load.PodsPerNode.Max != 60 || c.Collect.Every != 5*time.Minute || c.Horizon != 36*time.Hour {
		t.Errorf("%+v", c)
	}
}

// The cluster of a scenario: its pool, its nodes, its network between them, and no
// collector, since it has none.
func TestFrom(t *testing.T) {
	p := load(t, "from")
	c := p.Cells[0].Cluster
	if p.Cells[0].PoolSize != 256 || p.Cells[1].PoolSize != 128 || len(c.Nodes) != 2 || c.Fabric.Topology != "tor" || c.Collect.Every != 0 ||
		calico.Of(&c).Datastore != reference.Kubernetes || c.Nodes[0].Addr.String() != "10.64.0.247/22" {
		t.Errorf("%+v", c)
	}
}

// A packed plan needs no file and has the same cells and points.
func TestPack(t *testing.T) {
	for _, name := range goods(t) {
		p := load(t, name)
		if err := p.Set(plan.Both, 7); err != nil {
			t.Fatal(err)
		}
		text, err := p.Pack()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		q, err := plan.Parse(managers.All(), "packed.yaml", text, func(name string) ([]byte, error) { return nil, fmt.Errorf("it asks for %s", name) })
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if diff := cmp.Diff(p.Points(), q.Points()); diff != "" || len(q.Points()) == 0 {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(p.Cells, q.Cells, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		again, err := q.Pack()
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: packed twice it is another text (%v):\n%s", name, err, cmp.Diff(string(text), string(again)))
		}
	}
}

func goods(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	return names
}

// One mistake each: the first line of the file describes it, and the golden has the message.
func TestBad(t *testing.T) {
	const dir = "testdata/bad"
	files, err := testfiles.All(dir, ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	open := func(name string) ([]byte, error) {
		path := filepath.Join(dir, name)
		data, err := testfiles.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return strict.ReadFile(path) // for its error
		}
		return data, err
	}
	var printed strings.Builder
	for _, f := range files {
		_, err := plan.Parse(managers.All(), filepath.Join(dir, f.Name), f.Data, open)
		var e *strict.Error
		if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		first, _, _ := strings.Cut(string(f.Data), "\n")
		fmt.Fprintf(&printed, "%s\n  %s\n", first, strings.TrimPrefix(err.Error(), "testdata/bad/"))
	}
	golden.Check(t, "testdata/bad.golden", printed.String())
}

// Days are written and read.
func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, "36h": 36 * time.Hour, "5m": 5 * time.Minute, "0": 0, "90s": 90 * time.Second,
	} {
		if got, err := values.ParseSpan(text); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if got, err := values.ParseSpan(values.SpanText(want)); got != want || err != nil {
			t.Errorf("%s as %s: %s, %v", text, values.SpanText(want), got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1d-1h", "+5h", "4000d", "99999d", "30", "one day", "1d2d", "1e3d", "9999999h"} {
		if got, err := values.ParseSpan(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

// Every setting has its words, and no name stands twice. README's list is the
// golden.
func TestKnown(t *testing.T) {
	var names []string
	var table strings.Builder
	table.WriteString("| setting | of | what it is | values |\n|---|---|---|---|\n")
	for _, s := range plan.Known(managers.All()) {
		names = append(names, s.Name)
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", s.Name, s.Of, s.Means, s.Want)
		if s.Means == "" || s.Want == "" || s.Schema == nil || s.Of != "" && !slices.Contains(managers.All().Names(), s.Of) {
			t.Errorf("%+v", s)
		}
	}
	golden.Check(t, "testdata/settings.golden", table.String())
	if slices.Sort(names); len(slices.Compact(names)) != len(plan.Known(managers.All())) {
		t.Error(names)
	}
}

// A plan knows what the import that it begins with could not know.
func TestUnknown(t *testing.T) {
	cluster := wikimedia(t)
	from, err := managers.All().Parse("imported.yaml", cluster)
	if err != nil {
		t.Fatal(err)
	}
	want := from.Doubts()
	const text = `apiVersion: ipamsim.dev/v1alpha1
kind: Plan
metadata: {name: staging}
spec: {from: imported.yaml, horizon: 1d}
`
	p, err := plan.Parse(managers.All(), "staging.yaml", []byte(text), func(string) ([]byte, error) { return cluster, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Unknown(); len(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	const story = "Written by ipamsim import."
	reworded := bytes.Replace(cluster, []byte(story), []byte("Not known: anything."), 1)
	if bytes.Equal(reworded, cluster) {
		t.Fatalf("no %q in\n%s", story, cluster[:min(len(cluster), 2000)])
	}
	again, err := plan.Parse(managers.All(), "staging.yaml", []byte(text), func(string) ([]byte, error) { return reworded, nil })
	if err != nil || !slices.Equal(again.Unknown(), want) {
		t.Errorf("in other words: %q, %v", again.Unknown(), err)
	}
}

// A program without a manager that supports plans reports what to add to one.
func TestNoManagerIsPlanned(t *testing.T) {
	const text = "apiVersion: ipamsim.dev/v1alpha1\nkind: Plan\nmetadata: {name: x}\nspec: {from: canary.scenario, horizon: 1d}\n"
	_, err := plan.Parse(scenarios.Managers{canary.New()}, "plan.yaml", []byte(text), func(name string) ([]byte, error) { return testfiles.ReadFile("testdata/bad/" + name) })
	if err == nil || !strings.Contains(err.Error(), "no manager of this program supports plans: give it a plan.Manager") {
		t.Error(err)
	}
}
