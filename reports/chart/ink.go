package chart

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/palette/brewer"
)

// ink is a colour by name: in a page a class stands for it, so that a dark page can
// have another. Black has no class: it is the colour of the text around.
type ink struct {
	class string
	color.RGBA
	dark string // on a dark page; "" is the same
}

// The colours of lines are Okabe and Ito's hues ("Color Universal Design", 2008) in
// tones whose neighbours differ in lightness, all dark enough on white: a pale orange or yellow
// line is invisible there.
var lineInks = []ink{
	{"l0", rgb(0x004f8c), "#9bd0f5"}, // blue
	{"l1", rgb(0xd55e00), "#e8743b"}, // vermillion
	{"l2", rgb(0x00593f), "#8fdcc0"}, // bluish green
	{"l3", rgb(0x2f93d4), "#3f9fdd"}, // sky blue
	{"l4", rgb(0x7a2e63), "#f0b8db"}, // reddish purple
	{"l5", rgb(0xb07c00), "#c8962a"}, // orange, as dark as amber
	{"l6", rgb(0x333333), "#e6e6e6"}, // black
	{"l7", rgb(0xcf6a9e), "#d873a8"}, // reddish purple, light
}

// The colours of owners' areas are Okabe and Ito's, too, in three steps of lightness,
// of two hues each; see lookOf.
var ownerInks = []ink{
	{"o0", rgb(0xe69f00), ""}, // orange
	{"o1", rgb(0x0072b2), ""}, // blue
	{"o2", rgb(0xf0e442), ""}, // yellow
	{"o3", rgb(0xb24a00), ""}, // vermillion, darker
	{"o4", rgb(0x56b4e9), ""}, // sky blue
	{"o5", rgb(0xb9e0f7), ""}, // sky blue, pale
}

// heatInks go from little (light) to much (dark): Cynthia Brewer's YlGnBu, which people
// can read who do not see all colours (colorbrewer2.org). With seven steps each is
// clearly darker than the one before it; with nine, the first two are one grey.
var heatInks = func() []ink {
	var out []ink
	for n, c := range brewer.YlGnBu[7].Colors() {
		r, g, b, _ := c.RGBA()
		out = append(out, ink{fmt.Sprintf("h%d", n), color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}, ""})
	}
	return out
}()

var (
	gridInk  = ink{"grid", rgb(0xd9d9d9), "#8884"}    // seen, and not looked at
	mutedInk = ink{"muted", rgb(0x767676), "#8b949e"} // what is said aside
	onLight  = ink{"dk", rgb(0x111111), ""}           // text on an area that is light on any page
	onDark   = ink{"lt", rgb(0xfefefe), ""}
)

// inks are all of them.
func inks() []ink {
	var out []ink
	for _, some := range [][]ink{lineInks, ownerInks, heatInks, {gridInk, mutedInk, onLight, onDark}} {
		out = append(out, some...)
	}
	return out
}

func rgb(v uint32) color.RGBA {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
}

// faint is an ink that one sees through.
func faint(c color.RGBA, alpha uint8) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, alpha} }

func (i ink) hex() string { return fmt.Sprintf("#%02x%02x%02x", i.R, i.G, i.B) }

// textOn an area of this ink.
func (i ink) textOn() color.RGBA {
	// 0.18 is the luminance that is as far from black as from white (WCAG 2.1, 1.4.3).
	if luminance(i.RGBA) > 0.18 {
		return onLight.RGBA
	}
	return onDark.RGBA
}

// classOf a colour; "" for that of the text. Colours that one sees through come back
// from the library rounded, up to two off.
func classOf(hex string) string {
	var r, g, b uint8
	if _, err := fmt.Sscanf(strings.ToLower(hex), "#%02x%02x%02x", &r, &g, &b); err != nil {
		return ""
	}
	near := func(x, y uint8) bool { return max(x, y)-min(x, y) <= 2 }
	for _, i := range inks() {
		if near(i.R, r) && near(i.G, g) && near(i.B, b) {
			return i.class
		}
	}
	return ""
}
