package chart

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// CSS is what a page with charts needs besides its own: the colours of the lines,
// light and dark. Text and axes have the colour of the text around them.
func CSS() string {
	var light, dark strings.Builder
	for i, s := range styles {
		fmt.Fprintf(&light, ".chart .l%d{color:%s}\n", i, hex(s))
		fmt.Fprintf(&dark, "  .chart .l%d{color:%s}\n", i, s.dark)
	}
	return ".chart{display:block;width:100%;height:auto}\n.chart .grid{color:#8884}\n" + light.String() +
		"@media (prefers-color-scheme: dark){\n" + dark.String() + "}\n"
}

// Inline is the chart as a part of a page, as wide as there is room. The page says
// its title; described is what somebody hears who does not see it.
//
// Nothing in it needs an inline style or a script, whatever a page's content
// security policy says.
func (c *Chart) Inline(described string) (template.HTML, error) {
	p, err := c.plot(false)
	if err != nil {
		return "", err
	}
	v := vgsvg.New(width, height)
	p.Draw(draw.New(v))
	var b bytes.Buffer
	if _, err := v.WriteTo(&b); err != nil {
		return "", err
	}
	_, body, ok := strings.Cut(b.String(), "<svg ")
	_, body, whole := strings.Cut(body, ">")
	if !ok || !whole {
		return "", fmt.Errorf("chart: %q: the library writes another form of SVG", c.Title)
	}
	head := fmt.Sprintf(`<svg class="chart" role="img" aria-label="%s" viewBox="0 0 %d %d" fill="currentColor" xmlns="http://www.w3.org/2000/svg">`,
		html.EscapeString(c.Title+": "+described), width, height)
	return template.HTML(head + styled.ReplaceAllStringFunc(body, attributes)), nil
}

var (
	styled = regexp.MustCompile(`style="[^"]*"`)
	// used are the properties that say something to a browser.
	used = map[string]bool{
		"fill": true, "stroke": true, "stroke-width": true, "stroke-dasharray": true, "stroke-dashoffset": true, "font-size": true,
		"fill-opacity": true, "stroke-opacity": true,
	}
)

// attributes are a style="…" as attributes of their own. A colour of ours becomes a
// class, so that a page decides what it is; black is the colour of the text.
func attributes(style string) string {
	var out []string
	class := ""
	for _, prop := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(style, `style="`), `"`), ";") {
		name, value, _ := strings.Cut(prop, ":")
		if !used[name] {
			continue
		}
		if strings.HasPrefix(value, "#") {
			if cl := classOf(value); cl != "" {
				class = cl
			}
			value = "currentColor"
		}
		out = append(out, fmt.Sprintf(`%s="%s"`, name, value))
	}
	if class != "" {
		out = append([]string{`class="` + class + `"`}, out...)
	}
	return strings.Join(out, " ")
}

// classOf a colour; "" for that of the text.
func classOf(colour string) string {
	colour = strings.ToLower(colour)
	if colour == fmt.Sprintf("#%02x%02x%02x", gridColour.R, gridColour.G, gridColour.B) {
		return "grid"
	}
	for i, s := range styles {
		if colour == hex(s) {
			return fmt.Sprintf("l%d", i)
		}
	}
	return ""
}

func hex(s style) string { return fmt.Sprintf("#%02x%02x%02x", s.colour.R, s.colour.G, s.colour.B) }
