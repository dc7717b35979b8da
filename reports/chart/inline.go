package chart

import (
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// CSS returns the style that a page with pictures needs: their colours, light and dark. Text and
// axes have the colour of the surrounding text.
func CSS() string {
	var light, dark strings.Builder
	for _, i := range inks() {
		fmt.Fprintf(&light, ".chart .%s{color:%s}\n", i.class, i.hex())
		if i.dark != "" {
			fmt.Fprintf(&dark, "  .chart .%s{color:%s}\n", i.class, i.dark)
		}
	}
	return ".chart{display:block;width:100%;height:auto;font-family:" + family + "}\n" + light.String() +
		"@media (prefers-color-scheme: dark){\n" + dark.String() + "}\n"
}

// family is Liberation Sans, which text is measured with, or a font of the same widths.
const family = `"Liberation Sans",Arial,Helvetica,sans-serif`

// Inline renders the picture as a part of a page, as wide as its container. The page shows the
// title; described is the text for screen readers.
//
// It needs no inline style and no script, so it works with any content security policy.
func Inline(p Picture, described string) (template.HTML, error) {
	v, err := vector(p, false)
	if err != nil {
		return "", err
	}
	_, high := v.Size()
	text, err := markup(v)
	if err != nil {
		return "", err
	}
	_, body, ok := strings.Cut(text, "<svg ")
	_, body, whole := strings.Cut(body, ">")
	if !ok || !whole {
		return "", fmt.Errorf("chart: %q: the library writes another form of SVG", shown(p.heading()))
	}
	head := fmt.Sprintf(`<svg class="chart" role="img" aria-label="%s" viewBox="0 0 %d %.5g" fill="currentColor" xmlns="http://www.w3.org/2000/svg">`,
		html.EscapeString(shown(p.heading())+": "+line(described, saidMax)), width, high.Points())
	return template.HTML(head + styled.ReplaceAllStringFunc(body, attributes)), nil
}

// markup is the picture as SVG. Each text says how wide it is: a browser that has
// another face makes it fit, so that nothing lies on its neighbour.
func markup(v *vgsvg.Canvas) (string, error) {
	var b strings.Builder
	if _, err := v.WriteTo(&b); err != nil {
		return "", err
	}
	return textual.ReplaceAllStringFunc(b.String(), func(element string) string {
		part := textual.FindStringSubmatch(element)
		size, err := strconv.ParseFloat(part[2], 64)
		wide := textStyle(vg.Points(size)).Width(html.UnescapeString(part[4]))
		if err != nil || wide <= 0 {
			return element
		}
		return fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs"%s%s%s>%s</text>`, wide.Points(), part[1], part[2], part[3], part[4])
	}), nil
}

var (
	textual = regexp.MustCompile(`<text([^>]*font-size:)([0-9.]+)([^>]*)>([^<]*)</text>`)
	styled  = regexp.MustCompile(`style="[^"]*"`)
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
