package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
)

// lightness of a colour, 0 is black and 100 is white: CIE L*, which is about how
// light people find it, and what is left of it in greyscale.
func lightness(c color.RGBA) float64 {
	y := luminance(c)
	if y <= 216.0/24389 {
		return y * 24389 / 27
	}
	return 116*math.Cbrt(y) - 16
}

// contrast of two colours, 1 to 21 (WCAG 2.1).
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func darkly(t *testing.T, i ink) color.RGBA {
	var v uint32
	if _, err := fmt.Sscanf(i.dark, "#%06x", &v); err != nil {
		t.Fatal(i.class, err)
	}
	return rgb(v)
}

// Lines differ in greyscale: neighbours differ in lightness by 15 of 100
// or more, all of them in dashes and in markers; and all are seen on their page, as
// WCAG 1.4.11 wants: 3 to 1.
func TestLinesInGrey(t *testing.T) {
	white, night := rgb(0xffffff), rgb(0x0d1117) // the latter is the page's own
	for n, i := range lineInks {
		if c := contrast(i.RGBA, white); c < 3 {
			t.Errorf("line %d on white: %.1f to 1", n, c)
		}
		if c := contrast(darkly(t, i), night); c < 3 {
			t.Errorf("line %d on a dark page: %.1f to 1", n, c)
		}
		for m := range n {
			if slices.Equal(dashes[m], dashes[n]) || shapes[m] == shapes[n] {
				t.Errorf("lines %d and %d have the same dashes or markers", m, n)
			}
		}
		if n == 0 {
			continue
		}
		before := lineInks[n-1]
		if d := math.Abs(lightness(i.RGBA) - lightness(before.RGBA)); d < 15 {
			t.Errorf("lines %d and %d differ by %.1f in lightness", n-1, n, d)
		}
		if d := math.Abs(lightness(darkly(t, i)) - lightness(darkly(t, before))); d < 15 {
			t.Errorf("lines %d and %d differ by %.1f in lightness on a dark page", n-1, n, d)
		}
	}
}

// Heat falls in lightness from step to step by 8 or more, so that no two are one grey.
func TestHeatInGrey(t *testing.T) {
	for n := 1; n < len(heatInks); n++ {
		if d := lightness(heatInks[n-1].RGBA) - lightness(heatInks[n].RGBA); d < 8 {
			t.Errorf("step %d is only %.1f darker than the one before it", n, d)
		}
	}
}

// Any two of the owners that have their own look differ in pattern, or by 15 in
// lightness. Text is read on all areas: 4.5 to 1, WCAG 1.4.3.
func TestOwnersInGrey(t *testing.T) {
	for n := range ownersDistinct {
		a := inkPatternOf(n)
		for m := range n {
			b := inkPatternOf(m)
			if d := math.Abs(lightness(a.RGBA) - lightness(b.RGBA)); a.name == b.name && d < 15 {
				t.Errorf("owners %d and %d: both %s, and %.1f apart in lightness", m, n, a.name, d)
			}
		}
	}
	for _, i := range append(slices.Clone(ownerInks), heatInks...) {
		if c := contrast(i.RGBA, i.textOn()); c < 4.5 {
			t.Errorf("text on %s: %.1f to 1", i.class, c)
		}
	}
}

// seen is a colour as seen without red or green cones.
//
// Source: Viénot, Brettel, Mollon, "Digital video colourmaps for checking the
// legibility of displays by dichromats" (1999), in linear light.
func seen(c color.RGBA, kind string) [3]float64 {
	v := [3]float64{math.Pow(float64(c.R)/255, 2.2), math.Pow(float64(c.G)/255, 2.2), math.Pow(float64(c.B)/255, 2.2)}
	var m [3][3]float64
	switch kind {
	case "protanopia":
		m = [3][3]float64{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}
	case "deuteranopia":
		m = [3][3]float64{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}
	}
	var out [3]float64
	for i := range m {
		for j := range m[i] {
			out[i] += m[i][j] * v[j]
		}
		out[i] = math.Pow(math.Max(0, out[i]), 1/2.2) * 255
	}
	return out
}

// The six hues of owners stay six without red or green cones: two differ by 40 of
// 255 in some channel, or more.
func TestOwnersWithoutCones(t *testing.T) {
	for _, kind := range []string{"protanopia", "deuteranopia"} {
		for n, a := range ownerInks {
			for _, b := range ownerInks[:n] {
				x, y, most := seen(a.RGBA, kind), seen(b.RGBA, kind), 0.0
				for i := range x {
					most = max(most, math.Abs(x[i]-y[i]))
				}
				if most < 40 {
					t.Errorf("%s: %s and %s differ by %.0f", kind, b.class, a.class, most)
				}
			}
		}
	}
}

// Lines of a pattern stay within their area, join those of the area beside it, and
// are as many as the area is wide.
func TestPatternStaysInside(t *testing.T) {
	area := rect(3.3, 7.1, 41, 13)
	for _, p := range patterned[1:] {
		path := p.lines(nil, area)
		if n := len(path) / 2; n < 8 || n > 30 {
			t.Errorf("%s: %d lines in an area of 41 by 13", p.name, n)
		}
		for n, c := range path {
			const hair = 1e-9
			if c.Pos.X < area.Min.X-hair || c.Pos.X > area.Max.X+hair || c.Pos.Y < area.Min.Y-hair || c.Pos.Y > area.Max.Y+hair {
				t.Errorf("%s: point %d at %v is outside of %v", p.name, n, c.Pos, area)
			}
		}
		left, right := p.lines(nil, rect(0, 0, 10, 10)), p.lines(nil, rect(10, 0, 10, 10))
		if !slices.ContainsFunc(left, func(a vg.PathComp) bool {
			return a.Pos.X == 10 && slices.ContainsFunc(right, func(b vg.PathComp) bool { return b.Pos == a.Pos })
		}) {
			t.Errorf("%s: no line goes on in the area beside it", p.name)
		}
	}
}
