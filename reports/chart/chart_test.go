package chart

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shots = flag.String("charts", "", "write the charts of the tests into this `DIR`, to look at")

// The same picture is the same bytes, in every form.
func TestSameBytes(t *testing.T) {
	forms := map[string]func(io.Writer, Picture) error{
		"svg": SVG, "png": PNG, "csv": CSV, "json": JSON,
		"html": func(w io.Writer, p Picture) error {
			h, err := Inline(p, "it grows")
			io.WriteString(w, string(h))
			return err
		},
	}
	first, second := pictures(), pictures()
	for kind, p := range first {
		for name, form := range forms {
			var a, b bytes.Buffer
			if err := errors.Join(form(&a, p), form(&b, second[kind])); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%s: two drawings of %s differ", name, kind)
			}
			if *shots != "" {
				if err := os.WriteFile(filepath.Join(*shots, kind+"."+name), a.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A chart in a page: names stay text, no colour is fixed, no style is inline, and
// every line has a class, dashes and a name of its own.
func TestInline(t *testing.T) {
	h, err := Inline(growth(), `"from" <0> to 100`)
	if err != nil {
		t.Fatal(err)
	}
	text := string(h)
	for _, bad := range []string{"<script", "<img", "style=", "#", "font-family"} {
		if i := strings.Index(strings.ReplaceAll(text, "&#34;", ""), bad); i >= 0 {
			t.Errorf("%q in the chart: …%s…", bad, text[max(0, i-40):min(len(text), i+40)])
		}
	}
	if !strings.Contains(text, `aria-label="Runs &lt;/svg&gt;`) || !strings.Contains(text, "&#34;from&#34; &lt;0&gt; to 100\"") {
		t.Error("nobody says what the chart shows")
	}
	dashes := map[string]bool{}
	for n := range LinesMax {
		m := regexp.MustCompile(fmt.Sprintf(`class="l%d"[^/]*stroke-width="1.6"([^/]*)`, n)).FindStringSubmatch(text)
		if m == nil || dashes[m[1]] {
			t.Errorf("line %d has no dashes of its own: %v", n, m)
			continue
		}
		dashes[m[1]] = true
		if !strings.Contains(CSS(), fmt.Sprintf(".chart .l%d{", n)) {
			t.Errorf("line %d has no colour", n)
		}
	}
}

// Pictures that have hardly anything to show are drawn, too.
func TestLittleToShow(t *testing.T) {
	all := map[string]Picture{
		"heat without values": &Heat{X: Axis{Names: []string{"a"}}, Y: Axis{Names: []string{"b"}}},
		"heat of one zero":    &Heat{X: Axis{Names: []string{"a"}}, Y: Axis{Names: []string{"b"}}, Tiles: []Tile{{}}},
		"one block, one time": &Owners{Times: []float64{7}, Blocks: []string{"a"}, Owner: [][]int32{{0}}},
		"one bar of nothing":  &Bars{Bars: []Bar{{}}},
		"one option":          &Pareto{Points: []Named{{Name: "it", Recommended: true}}},
		"two equal options":   &Pareto{Points: []Named{{Name: "a", X: 1, Y: 1}, {Name: "b", X: 1, Y: 1}}},
		"one name of X":       &Chart{X: Axis{Names: []string{"only"}}, Lines: []Line{{Points: []Point{{0, 1}}}}},
	}
	for name, points := range map[string][]Point{
		"one point at zero": {{0, 0}}, "no time passed": {{0, 1}, {0, 5}}, "nothing changed": {{0, 7}, {60, 7}},
		"years": {{0, 1}, {1e9, 1e12}}, "small": {{0, 1e-9}, {1e-6, 2e-9}}, "below zero": {{0, -5}, {1, 5}}, "only below": {{-9, -9}, {-8, -8}},
		"hardly more than before": {{1e15, 1e15}, {1e15 + 1, 1e15 + 1}}, "the largest": {{0, 0}, {1e300, 1e300}}, "the smallest": {{0, 0}, {5e-324, 5e-324}}, "from one end to the other": {{-1e300, -1e300}, {1e300, 1e300}},
	} {
		line := Line{Points: points}
		all[name] = &Chart{X: Axis{Duration: true}, Lines: []Line{line}}
		all[name+", panel"] = &Panels{X: Axis{Duration: true}, Panels: []Panel{{Lines: []Line{line}}}}
		all[name+", share"] = &Chart{Y: Axis{Share: true}, Lines: []Line{line}}
		all[name+", whole"] = &Chart{Y: Axis{Whole: true}, Lines: []Line{line}}
	}
	for name, p := range all {
		h, err := Inline(p, "")
		_, paint := raster(p, 36)
		if err := errors.Join(err, paint); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if bad := regexp.MustCompile(`[^a-z](NaN|[+-]?Inf)`).FindString(string(h)); bad != "" {
			t.Errorf("%s: %s in it", name, bad)
		}
	}
}

// Ticks are round, and their labels short.
func TestTicks(t *testing.T) {
	labels := func(a Axis, to float64) string {
		var out []string
		for _, x := range a.ticks(7).Ticks(0, to) {
			out = append(out, x.Label)
		}
		return strings.Join(out, " ")
	}
	count, dur, part := Axis{}, Axis{Duration: true}, Axis{Share: true}
	for _, tt := range []struct {
		a    Axis
		to   float64
		want string
	}{
		{count, 4, "0 1 2 3 4"}, {count, 0.6, "0 0.1 0.2 0.3 0.4 0.5 0.6"}, {count, 12129, "0 2k 4k 6k 8k 10k 12k"},
		{count, 2.5e6, "0 500k 1M 1.5M 2M 2.5M"}, {count, 900, "0 200 400 600 800"}, {Axis{Whole: true}, 2, "0 1 2"},
		{dur, 5, "0s 1s 2s 3s 4s 5s"}, {dur, 300, "0s 1m 2m 3m 4m 5m"}, {dur, 100, "0s 15s 30s 45s 1m 1m15s 1m30s"},
		{dur, 8 * 3600, "0s 2h 4h 6h 8h"}, {dur, 7 * day, "0s 1d 2d 3d 4d 5d 6d 7d"}, {dur, 2.5 * day, "0s 12h 1d 1d12h 2d 2d12h"},
		{dur, 30 * day, "0s 5d 10d 15d 20d 25d 30d"}, {dur, 365 * day, "0s 60d 120d 180d 240d 300d 360d"},
		{part, 1.05, "0% 20% 40% 60% 80% 100%"}, {part, 1.6, "0% 50% 100% 150%"},
	} {
		if got := labels(tt.a, tt.to); got != tt.want {
			t.Errorf("to %v: %s, want %s", tt.to, got, tt.want)
		}
	}
}

// A value in a picture is short, and never says more than is true.
func TestWritten(t *testing.T) {
	dur, part := Axis{Duration: true}, Axis{Share: true}
	for _, tt := range []struct {
		a    Axis
		v    float64
		want string
	}{
		{Axis{}, 55.25, "55.25"}, {Axis{}, 12345, "12.35k"}, {dur, 45, "45s"}, {dur, 5400, "1.5h"}, {dur, 123456.7, "1.4d"}, {dur, 30 * day, "30d"}, {dur, 0, "0s"},
		{part, 0, "0%"}, {part, 0.004, "<1%"}, {part, 0.12345, "12%"}, {part, 0.996, ">99%"}, {part, 1, "100%"},
	} {
		if got := tt.a.written(tt.v); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.v, got, tt.want)
		}
	}
}

// A map in which nothing happens is as large with 200 samples as with two.
func TestOwnersAreMerged(t *testing.T) {
	size := func(samples int) int {
		o := many()
		o.Times, o.Owner = o.Times[:samples], o.Owner[:samples]
		o.Times[samples-1] = 30 * day
		for n := range o.Owner {
			o.Owner[n] = o.Owner[0]
		}
		if n := len(o.runs()); n != BlocksMax {
			t.Errorf("%d samples: %d runs of %d blocks", samples, n, BlocksMax)
		}
		var b bytes.Buffer
		if err := SVG(&b, o); err != nil {
			t.Fatal(err)
		}
		return b.Len()
	}
	if two, all := size(2), size(200); two != all {
		t.Errorf("%d bytes with two samples, %d with 200", two, all)
	}
}

// Lines that lie on each other have their markers at different places.
func TestMarkersAreStaggered(t *testing.T) {
	l := wave("", 1, 1, 0, false)
	seen := map[float64]int{}
	for n := range 3 {
		for _, p := range some(l.Points, n, 3) {
			if before, taken := seen[p.X]; taken {
				t.Errorf("lines %d and %d both have a marker at %v", before, n, p.X)
			}
			seen[p.X] = n
		}
	}
	if len(seen) != 18 {
		t.Errorf("%d markers on three lines, want 18", len(seen))
	}
}
