package timeline

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// sourceAround are how many lines are shown before the one that is meant, and after it.
const sourceAround = 2

// Source is the source of the places that the timeline of a violation numbers, in their
// order: the line that sent the message and the one that called it, with those around
// them. It is "" if the timeline numbers none.
//
// read gives a file of this machine by its path. What it does not have, or what is
// another version than the one that ran, is said in place of the lines.
func Source(r *reports.Report, v *model.Violation, read func(path string) ([]byte, error)) string {
	_, places := timeline(r, v)
	var b strings.Builder
	for i, p := range places {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s %s, in %s\n", p.mark(), numbers(p.steps), reports.Clean(p.site.Module))
		p.excerpts(&b, read)
	}
	return b.String()
}

// numbers are "step 7", or "steps 7, 9 and 12".
func numbers(steps []int) string {
	text := make([]string, len(steps))
	for i, s := range steps {
		text[i] = fmt.Sprint(s)
	}
	if n := len(text) - 1; n > 0 {
		return "steps " + strings.Join(text[:n], ", ") + " and " + text[n]
	}
	return "step " + text[0]
}

// excerpts are the line that sent the messages, and the one that called it; what is
// between them is named.
func (p *place) excerpts(b *strings.Builder, read func(string) ([]byte, error)) {
	caller, called := p.site.Caller()
	for i, f := range p.site.Frames {
		role := ""
		if i > 0 {
			role = "called by "
		}
		fmt.Fprintf(b, "    %s%s:%d %s\n", role, reports.Clean(f.File), f.Line, reports.Clean(f.Name()))
		if i == 0 || f == caller {
			p.excerpt(b, f, read)
		}
		if !called || f == caller {
			return
		}
	}
}

// excerpt is the text of a frame's line, and where to read more.
func (p *place) excerpt(b *strings.Builder, f model.Frame, read func(string) ([]byte, error)) {
	if url := p.site.URL(f); url != "" {
		b.WriteString("    " + url + "\n")
	}
	lines, problem := p.source(f, read)
	if problem != "" {
		b.WriteString("      (" + reports.Clean(problem) + ")\n")
	}
	for i := max(0, f.Line-1-sourceAround); i < min(len(lines), f.Line+sourceAround); i++ {
		mark := ' '
		if i == f.Line-1 {
			mark = '>'
		}
		text := fmt.Sprintf("    %c %5d  %s", mark, i+1, reports.Clean(layout.Expand(strings.TrimRight(lines[i], "\r"))))
		b.WriteString(strings.TrimRight(layout.Cut(text, layout.Width), " ") + "\n")
	}
}

// source are the lines of a frame's file, or why there are none.
func (p *place) source(f model.Frame, read func(string) ([]byte, error)) (lines []string, problem string) {
	if p.site.Root == "" || !filepath.IsLocal(filepath.FromSlash(f.File)) {
		return nil, "this program was built without the folders of its sources: build it with make build to see the lines here"
	}
	file := filepath.Join(p.site.Root, filepath.FromSlash(f.File))
	text, err := read(file)
	if err != nil {
		return nil, "the source is not on this machine; when this program was built it was " + file
	}
	lines = strings.Split(string(text), "\n")
	if !holds(lines, f) {
		return nil, file + " is not what this program was built of: another version, or edited since"
	}
	return lines, ""
}

// inner are the parts of a function's name that the compiler makes: of functions without
// a name, and of those of a range.
var inner = regexp.MustCompile(`^(func\d+|gowrap\d+|deferwrap\d+|\d+|)$`)

// holds reports whether the function that begins last before a frame's line is the
// frame's. Of what begins no function of that name, a variable or an init, only the line
// must be there.
func holds(lines []string, f model.Frame) bool {
	if f.Line < 1 || f.Line > len(lines) {
		return false
	}
	name, _, _ := strings.Cut(strings.ReplaceAll(f.Name(), "[...]", ""), "-range")
	parts := slices.DeleteFunc(strings.Split(name, "."), inner.MatchString)
	if len(parts) == 0 || parts[0] == "glob" || parts[0] == "init" {
		return true
	}
	begins := regexp.MustCompile(`^func (\([^)]*\) )?` + regexp.QuoteMeta(parts[len(parts)-1]) + `[(\[]`)
	for i := f.Line - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "func ") {
			return begins.MatchString(lines[i])
		}
	}
	return false
}
