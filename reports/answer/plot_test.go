package answer_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/render"
)

var shots = flag.String("plots", "", "write the plots of the tests into this `DIR`, to look at")

// grid is a plan over two axes, whose first axis is given: the more often
// nodes crash and the less often the collector runs, the sooner addresses run out.
func grid(repeats int) *answer.Question {
	p := plan(nil, repeats)
	p.Name, p.Title, p.Minimise, p.Require = "tkg", "A small range (seeds/002)", "leaked", []answer.Bound{{Measure: "exhaustion", Most: 0.1}}
	p.Axes = []answer.Axis{
		{Setting: "crashEvery", Values: []string{"1d", "2d", "5d", "0"}, Given: true},
		{Setting: "reconcileEvery", Values: []string{"5m", "1h", "1d", "0"}},
	}
	for i, crash := range p.Axes[0].Values {
		for j, every := range p.Axes[1].Values {
			k := kind{block: 64, routes: 4, leaked: (3 - i) * j * 3, runsOut: float64((3-i)*j) / 9}
			c := answer.Trials{Values: []string{crash, every}, PoolSize: 5, Engine: "reference"}
			for r := range repeats {
				c.Courses = append(c.Courses, k.courseOf(r, repeats))
			}
			p.Cells = append(p.Cells, c)
		}
	}
	return p
}

// owned is a plan whose trials record the owner of each block.
func owned() *answer.Question {
	p := plan(staging[:2], 10)
	for i := range p.Cells {
		for _, l := range p.Cells[i].Courses {
			for s := range l.Samples {
				l.Owners = append(l.Owners, []int32{1, 2, int32(s / 50), int32(s/30) % 3})
			}
		}
	}
	return p
}

func names(a *render.Answer) string {
	var out []string
	for _, p := range a.Plots {
		out = append(out, p.Name)
	}
	return strings.Join(out, " ")
}

// Which plots a plan gets follows from its axes, its options, and what came of it.
func TestPlots(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		plan       *answer.Question
	}{
		{"options", "exhaustion over-time tradeoff stranded", plan(append(staging, kind{name: "large blocks", block: 128, routes: 2}), 20)},
		{"axes", "exhaustion over-time heat-exhaustion heat-timeToExhaustion heat-leaked along-crashEvery-leaked along-crashEvery-timeToExhaustion along-reconcileEvery-leaked along-reconcileEvery-timeToExhaustion", grid(20)},
		{"owners", "exhaustion over-time owners-0 owners-1", owned()},
		{"one cell", "exhaustion over-time", plan(staging[:1], 1)},
		{"nothing done", "", func() *answer.Question {
			p := plan(staging, 2)
			for i := range p.Cells {
				clear(p.Cells[i].Courses)
			}
			return p
		}()},
		{"no cells", "", plan(nil, 2)},
	} {
		a := render.Of(tt.plan)
		if got := names(a); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, f := range a.Files() {
			if path.Ext(f.Name) == ".png" && tt.name != "owners" && *shots == "" {
				continue // drawn as the others are, and slowly
			}
			var first, second bytes.Buffer
			if err := f.Write(&first); err != nil {
				t.Errorf("%s, %s: %v", tt.name, f.Name, err)
			}
			if err := f.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Errorf("%s, %s: written twice, it differs: %v", tt.name, f.Name, err)
			}
			if *shots != "" {
				file := filepath.Join(*shots, tt.name, f.Name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, first.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Where there are many blocks, few maps of them are drawn, and the last one says so.
func TestFewMapsOfManyBlocks(t *testing.T) {
	p := owned()
	for i := range p.Cells {
		for _, l := range p.Cells[i].Courses {
			for s := range l.Owners {
				l.Owners[s] = make([]int32, 200)
			}
		}
	}
	a := render.Of(p)
	if got, want := names(a), "exhaustion over-time owners-0"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	if got, want := a.Plots[2].Caption, "1 of 2 rows are drawn; the others have too many blocks."; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// Where there is room for few lines, those that meet the requirements come before those
// that do not; what is drawn over time is the mean.
func TestWinnersAreDrawn(t *testing.T) {
	kinds := []kind{staging[0]}
	for i := range 10 {
		kinds = append(kinds, kind{name: fmt.Sprint("fails ", i), block: 64, routes: 3, runsOut: 1})
	}
	kinds = append(kinds, kind{name: "best", block: 64, routes: 4}, kind{name: "good", block: 64, routes: 5})
	for _, f := range render.Of(plan(kinds, 100)).Files() {
		if f.Name != "plots/over-time.csv" {
			continue
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"as it is", "best", "good", "fails 0"} {
			if !strings.Contains(b.String(), ","+name+",") {
				t.Errorf("%s is not drawn", name)
			}
		}
		if want := "Routes,prefixes,best,2592000,5.07"; !strings.Contains(b.String(), want) {
			t.Errorf("want the mean, %s, in\n%s", want, b.String())
		}
		return
	}
	t.Error("nothing is drawn over time")
}

// Bars have short names: values without their settings, what changes fastest first.
func TestBarsHaveShortNames(t *testing.T) {
	p := plan([]kind{staging[0], staging[5]}, 10)
	p.Axes = []answer.Axis{{Setting: "podsPerNode", Values: []string{"uniform 70 ± 40"}, Given: true}, {Setting: "blockSize", Values: []string{"26", "27"}}}
	for i := range p.Cells {
		p.Cells[i].Option, p.Cells[i].Values = "", []string{"uniform 70 ± 40", p.Axes[1].Values[i]}
	}
	for _, f := range render.Of(p).Files() {
		var b bytes.Buffer
		if f.Name != "plots/stranded.json" {
			continue
		}
		if err := f.Write(&b); err != nil || !strings.Contains(b.String(), `"27, uniform 70 ± 40"`) || !strings.Contains(b.String(), `"Stranded addresses by blockSize and podsPerNode"`) {
			t.Errorf("%s %v", b.String(), err)
		}
		return
	}
	t.Error("no bars")
}

// Blocks and their owners have their names where the cluster says which there are.
func TestBlockNames(t *testing.T) {
	pools := func(cidrs ...string) (out []model.IPPool) {
		for _, c := range cidrs {
			p := netip.MustParsePrefix(c)
			out = append(out, model.IPPool{Prefix: p, BlockBits: p.Addr().BitLen() - 6})
		}
		return out
	}
	disabled := append(pools("10.0.0.0/24"), model.IPPool{Prefix: netip.MustParsePrefix("10.9.0.0/24"), BlockBits: 26, Disabled: true})
	small := []model.IPPool{{Prefix: netip.MustParsePrefix("10.0.0.0/30"), BlockBits: 32}}
	for _, tt := range []struct {
		name, last string
		pools      []model.IPPool
	}{
		{"one pool", "10.64.75.192/26", pools("10.64.75.0/24")},
		{"two pools", "10.1.255.192/26", pools("10.1.255.128/25", "10.0.0.0/25")},
		{"one of them disabled", "10.0.0.192/26", disabled},
		{"other blocks than the default", "10.0.0.3/32", small},
		{"the end of all addresses", "255.255.255.192/26", pools("255.255.255.0/24")},
		{"IPv6", "fd00::c0/122", pools("fd00::/120")},
		{"other blocks than the trials have", "block 4", pools("10.0.0.0/20")},
		{"not known", "block 4", nil},
	} {
		p := owned()
		p.Cells[0].Cluster = &capacity.Cluster{Networks: []model.Network{{Blocks: &model.BlockPolicy{Pools: tt.pools}}}, Workload: workload.Workload{Nodes: []workload.Node{{Name: "kubestage1001"}}}}
		for _, f := range render.Of(p).Files() {
			var b bytes.Buffer
			if f.Name != "plots/owners-0.csv" {
				continue
			}
			if err := f.Write(&b); err != nil || !strings.Contains(b.String(), tt.last) || !strings.Contains(b.String(), "kubestage1001") || !strings.Contains(b.String(), "node 2") {
				t.Errorf("%s: no %s, kubestage1001 or node 2 in\n%s %v", tt.name, tt.last, b.String(), err)
			}
		}
	}
}
