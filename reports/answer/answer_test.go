package answer_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer/render"
	"ipamsim/reports/golden"
)

// What a plan came to, in every form that is text: the story of Wikimedia's staging
// cluster, and a grid of two settings.
func TestForms(t *testing.T) {
	a := render.Of(plan(staging, 100))
	tkg := render.Of(grid(20))
	for file, write := range map[string]func(io.Writer) error{
		"staging.txt": a.Text, "staging.md": a.Markdown, "staging.csv": a.CSV, "staging.json": a.JSON, "grid.txt": tkg.Text, "grid.md": tkg.Markdown,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", file), b.String())
	}
}

// Engines that ran the same workload trace are compared sample by sample, and the
// first difference is named.
func TestAgreement(t *testing.T) {
	p := plan(staging[:3], 100)
	for i := range p.Cells {
		for r := range p.Cells[i].Courses[:4] {
			p.Cells[i].Real = append(p.Cells[i].Real, staging[i].courseOf(r, 100))
		}
	}
	g := render.Of(p).Agreement
	if want := "The real code also ran 12 trials, 4 of each row: all 1,212 samples are equal."; g == nil || !g.Equal || g.Text != want {
		t.Fatalf("%+v, want %s", g, want)
	}
	p.Cells[1].Real[2].Samples[50].Leaked++
	p.Cells[2].Real[0].Samples = p.Cells[2].Real[0].Samples[:100]
	g = render.Of(p).Agreement
	const want = `The engines disagree in 2 of 12 trials, so one of them is wrong. First difference: "64 pods a node", repeat 2, at 15 d: Leaked is 3 in the reference and 4 in the real code.`
	if g.Equal || g.Text != want || len(g.Differ) != 2 || g.Differ[1].Field != "number of samples" {
		t.Errorf("%+v, want %s", g, want)
	}
	p.Cells[1].Courses[2].Chance = 14 * day // 47 of its samples are before
	p.Cells[2].Real[0].Samples = p.Cells[2].Courses[0].Samples
	g = render.Of(p).Agreement
	if want := "The real code also ran 12 trials, 4 of each row: all 1,158 samples are equal. In 1 of them only the samples before a random decision of upstream are compared, such as which empty block a node keeps."; g.Text != want {
		t.Errorf("%+v, want %s", g, want)
	}
	p.Cells[1].Real = nil
	g = render.Of(p).Agreement
	if want := `The real code also ran 8 trials, 4 of "as it is" and 4 of "one block a node", none of the recommended "64 pods a node": all 808 samples are equal.`; g.Text != want {
		t.Errorf("%+v, want %s", g, want)
	}
	p.Cells[2].Real, p.Cells[0].Real = nil, nil
	if g := render.Of(p).Agreement; g != nil {
		t.Errorf("nothing to compare: %+v", g)
	}
}

// What only the real code knows comes from its own trials.
func TestRealCode(t *testing.T) {
	p := plan(staging[:1], 2)
	if _, known := render.Of(p).Rows[0].Figures["calls"]; known {
		t.Error("the reference knows how many requests there were")
	}
	l := staging[0].courseOf(0, 2)
	l.Calls, l.AddMedian, l.AddP99, l.Violations = 9000, 30*time.Millisecond, 70*time.Millisecond, map[string]int{"leaked-claim": 2, "starved-node": 1}
	p.Cells[0].Real = []*capacity.Course{l}
	f := render.Of(p).Rows[0].Figures
	if f["calls"].Value != 10 || f["addMedian"].Value != 30 || f["addP99"].Value != 70 || f["violations"].Value != 3 || f["calls"].Trials != 1 || f["routes"].Trials != 2 {
		t.Errorf("%+v", f)
	}
	var b bytes.Buffer
	const want = "Calls, the time of an ADD and violations are from the 1 trial that the real code also ran."
	if err := render.Of(p).Text(&b); err != nil || !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
		t.Errorf("nobody says of how many trials: %s", b.String())
	}
}

// 4,000 trials are answered, plots included, in less than a second on an idle machine
// (0.3 s measured); the bound is for one with a lot else to do.
func TestManyTrials(t *testing.T) {
	p := plan(nil, 100)
	for i := range 40 {
		k := staging[i%len(staging)]
		k.name += fmt.Sprint(i)
		q := plan([]kind{k}, 100)
		p.Cells = append(p.Cells, q.Cells...)
	}
	from := time.Now()
	if a := render.Of(p); len(a.Rows) != 40 || len(a.Plots) == 0 {
		t.Error("no answer")
	}
	took := time.Since(from)
	t.Logf("4,000 trials: %v", took)
	if took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A plan for both engines without a trial of the real code says so.
func TestAlone(t *testing.T) {
	p := plan(staging[:1], 10)
	for _, both := range []bool{false, true} {
		p.Both = both
		var b strings.Builder
		if err := render.Of(p).Text(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "--engine real"); got != both {
			t.Errorf("both engines %v: says so: %v\n%s", both, got, b.String())
		}
	}
}
