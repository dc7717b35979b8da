package chart

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
)

// hostile names, as a pod or a node of a user's cluster may have them.
var hostile = map[string]string{
	"markup":         `</text></svg><script>alert(1)</script><img src=x onerror="alert(2)">`,
	"attributes":     `" onload="alert(1)" style="fill:url(http://evil/)`,
	"our own style":  `style="stroke:#004f8c;fill:none"`,
	"long":           strings.Repeat("wide", 50),
	"right to left":  "שלום \u202Egnp.exe\u202C مرحبا",
	"emoji":          "🔥👩‍👩‍👧‍👦 pod",
	"control":        "a\x00b\x1b[31m\nc\u2028d\u0085e\ufffe",
	"bytes":          "\xff\xfe\xc3",
	"formula":        `=HYPERLINK("http://evil/","click")`,
	"entities":       "&lt;b&gt; &#0; &nosuch;",
	"combining":      "a" + strings.Repeat("\u0301", 500),
	"only spaces":    " \t ",
	"CDATA":          "]]><!--",
	"nothing at all": "",
}

// bearing a name wherever a picture can bear one.
func bearing(name string) map[string]Picture {
	x, y := Axis{Label: name, Duration: true}, Axis{Label: name}
	other := name + "2"
	line := func(n string) Line {
		return Line{Name: n, Points: []Point{{0, 1}, {5, 2}}, Band: []Range{{0, 0, 2}, {5, 1, 3}}}
	}
	words := Axis{Label: name, Names: []string{name, other, name}}
	return map[string]Picture{
		"chart":  &Chart{Title: name, X: x, Y: y, Lines: []Line{line(name), line(other)}},
		"names":  &Chart{Title: name, X: words, Y: y, Lines: []Line{{Name: name, Points: []Point{{0, 1}, {1, 2}, {2, 1}}}}},
		"panels": &Panels{Title: name, X: x, Y: y, Panels: []Panel{{Title: name, Lines: []Line{line(name), line(other)}}, {Title: name, Y: y, Lines: []Line{line(name)}}}},
		"pareto": &Pareto{Title: name, X: x, Y: y, Points: []Named{{Name: name, X: 1, Y: 2}, {Name: name, X: 2, Y: 1, Recommended: true}, {Name: name, X: 3, Y: 3}}},
		"heat":   &Heat{Title: name, X: words, Y: words, Z: y, Tiles: []Tile{{Text: name}, {X: 1, Z: 5}}},
		"owners": &Owners{Title: name, X: x, Times: []float64{0, 1}, Blocks: []string{name, other}, Nodes: []string{name, other}, Owner: [][]int32{{1, 2}, {0, 1}}},
		"bars":   &Bars{Title: name, X: y, Bars: []Bar{{name, 1, 0, 2}, {other, 2, 2, 2}}},
	}
}

// What a name says stays text, in every kind of picture and every form of it.
func TestHostileNames(t *testing.T) {
	for which, name := range hostile {
		for kind, p := range bearing(name) {
			var svg, table, data bytes.Buffer
			inline, err := Inline(p, name)
			_, paint := raster(p, 36)
			if err := errors.Join(err, paint, SVG(&svg, p), CSV(&table, p), JSON(&data, p)); err != nil {
				t.Errorf("%s, %s: %v", which, kind, err)
				continue
			}
			for form, text := range map[string]string{"a file": svg.String(), "a page": string(inline)} {
				harmlessSVG(t, fmt.Sprintf("%s, %s as %s", which, kind, form), text)
			}
			harmlessTable(t, which+", "+kind, table.Bytes())
			if !json.Valid(data.Bytes()) {
				t.Errorf("%s, %s: no JSON: %s", which, kind, data.Bytes())
			}
		}
	}
}

// harmlessSVG is well-formed, has only elements and attributes that draw, and no text
// that would go on beyond the picture.
func harmlessSVG(t *testing.T, what, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if el, ok := tok.(xml.StartElement); ok {
			if !slices.Contains([]string{"svg", "g", "path", "text"}, el.Name.Local) {
				t.Errorf("%s: an element <%s>", what, el.Name.Local)
			}
			for _, a := range el.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") || a.Name.Local == "style" && strings.Contains(a.Value, "url") {
					t.Errorf("%s: an attribute %s=%q", what, a.Name.Local, a.Value)
				}
				if a.Name.Local == "textLength" {
					var wide float64
					if fmt.Sscan(a.Value, &wide); wide > width {
						t.Errorf("%s: a text %.0f wide", what, wide)
					}
				}
			}
		}
		if c, ok := tok.(xml.CharData); ok && utf8.RuneCount(c) > shownMax+10 {
			t.Errorf("%s: a text of %d letters", what, utf8.RuneCount(c))
		}
	}
}

// harmlessTable can be read, and no spreadsheet takes a cell for a formula.
func harmlessTable(t *testing.T, what string, data []byte) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Errorf("%s: %d rows, %v", what, len(rows), err)
	}
	number := regexp.MustCompile(`^-?[0-9]`)
	for _, cell := range slices.Concat(rows...) {
		if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) && !number.MatchString(cell) {
			t.Errorf("%s: a formula: %s", what, cell)
		}
	}
}

// A text is one line that cannot turn what stands beside it, and that fits.
func TestCut(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", " a\n\tb ": "a  b", "\u202Eabc\u202C": `\u202eabc\u202c`, "\xff": `\ufffd`, "a\x00b": `a\x00b`,
	} {
		if got := shown(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	s := textStyle(fontSize)
	for which, name := range hostile {
		for _, room := range []float64{0, 5, 40, 200} {
			if got := cut(name, vg.Points(room), s); s.Width(got) > vg.Points(room) {
				t.Errorf("%s: %q is wider than %.0f", which, got, room)
			}
		}
	}
	if got := wrap("one two three four five", s.Width("one two x"), s, 2); !slices.Equal(got, []string{"one two", "three f…"}) {
		t.Errorf("wrapped as %q", got)
	}
}

// What cannot be drawn is refused by every form, with the place where it is.
func TestRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := []Point{{0, 1}, {1, 2}}
	for want, p := range map[string]Picture{
		"0 lines":                      &Chart{},
		"9 lines":                      &Chart{Lines: make([]Line, LinesMax+1)},
		`line "a" has no points`:       &Chart{Lines: []Line{{Name: "a"}}},
		`line "b": NaN is no value`:    &Chart{Lines: []Line{{Name: "b", Points: []Point{{0, nan}}}}},
		`line "c": +Inf is no value`:   &Chart{Lines: []Line{{Name: "c", Points: []Point{{inf, 0}}}}},
		`band of line "d": NaN`:        &Chart{Lines: []Line{{Name: "d", Points: good, Band: []Range{{0, nan, 1}}}}},
		`band of line "e": from 3 dow`: &Chart{Lines: []Line{{Name: "e", Points: good, Band: []Range{{0, 3, 1}}}}},
		"0 panels":                     &Panels{},
		`panel "f" has no lines`:       &Panels{Panels: []Panel{{Title: "f"}}},
		`panel "g" has two lines "h"`:  &Panels{Panels: []Panel{{Title: "g", Lines: []Line{{Name: "h", Points: good}, {Name: "h", Points: good}}}}},
		`panel "i": line "j": NaN`:     &Panels{Panels: []Panel{{Title: "i", Lines: []Line{{Name: "j", Points: []Point{{nan, 0}}}}}}},
		"9 names of lines":             nineNames(),
		"0 options":                    &Pareto{},
		`option "k": NaN`:              &Pareto{Points: []Named{{Name: "k", X: nan}}},
		"0 columns and 0 rows":         &Heat{},
		"column 0, row 0: NaN":         &Heat{X: Axis{Names: []string{"a"}}, Y: Axis{Names: []string{"b"}}, Tiles: []Tile{{Z: nan}}},
		"column 3 of 1":                &Heat{X: Axis{Names: []string{"a"}}, Y: Axis{Names: []string{"b"}}, Tiles: []Tile{{X: 3}}},
		"two values in column 0":       &Heat{X: Axis{Names: []string{"a"}}, Y: Axis{Names: []string{"b"}}, Tiles: []Tile{{}, {}}},
		"0 bars":                       &Bars{},
		`bar "l": from 3 down to 1`:    &Bars{Bars: []Bar{{"l", 2, 3, 1}}},
		`bar "m": NaN`:                 &Bars{Bars: []Bar{{"m", nan, 0, 0}}},
		"0 blocks at 0 times":          &Owners{},
		"1 times, 0 samples":           &Owners{Blocks: []string{"a"}, Times: []float64{0}},
		"time 1 is not after":          &Owners{Blocks: []string{"a"}, Times: []float64{0, 0}, Owner: [][]int32{{0}, {0}}},
		"time 0: NaN":                  &Owners{Blocks: []string{"a"}, Times: []float64{nan}, Owner: [][]int32{{0}}},
		"sample 0 does not have":       &Owners{Blocks: []string{"a"}, Times: []float64{0}, Owner: [][]int32{{}}},
		"owner 2 of 1":                 &Owners{Blocks: []string{"a"}, Times: []float64{0}, Nodes: []string{"n"}, Owner: [][]int32{{2}}},
		"owner -1 of 1":                &Owners{Blocks: []string{"a"}, Times: []float64{0}, Nodes: []string{"n"}, Owner: [][]int32{{-1}}},
		"no mark is 9":                 &Owners{Blocks: []string{"a"}, Times: []float64{0}, Owner: [][]int32{{0}}, Marks: [][]Mark{{9}}},
	} {
		_, inline := Inline(p, "")
		for form, err := range map[string]error{"SVG": SVG(io.Discard, p), "PNG": PNG(io.Discard, p), "CSV": CSV(io.Discard, p), "JSON": JSON(io.Discard, p), "page": inline} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want …%s…", form, err, want)
			}
		}
	}
}

func nineNames() *Panels {
	p := &Panels{}
	for n := range LinesMax + 1 {
		p.Panels = append(p.Panels, Panel{Lines: []Line{{Name: fmt.Sprint(n), Points: []Point{{0, 0}}}}})
	}
	return p
}
