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

// sourceAround is the number of lines shown before and after a line.
const sourceAround = 2

// Source returns excerpts of the manager's source for the numbered places of a violation's
// timeline, in order: the line that sent the message and its caller's line, with the lines
// around them. It returns "" if the timeline numbers none.
//
// read returns a file of this machine. If the file is missing or is another version than
// the one that ran, a note replaces the lines.
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

// numbers renders "step 7", or "steps 7, 9 and 12".
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

// excerpts writes the line that sent the messages and its caller's line; of the frames
// between them only the names.
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

// excerpt writes a frame's line with the lines around it, and its URL.
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

// source returns the lines of a frame's file, or why they are missing.
func (p *place) source(f model.Frame, read func(string) ([]byte, error)) (lines []string, problem string) {
	if p.site.Root == "" || !filepath.IsLocal(filepath.FromSlash(f.File)) {
		return nil, "this program was built without source paths; make build includes them"
	}
	file := filepath.Join(p.site.Root, filepath.FromSlash(f.File))
	text, err := read(file)
	if err != nil {
		return nil, "the source is not on this machine; at build time it was " + file
	}
	lines = strings.Split(string(text), "\n")
	if !holds(lines, f) {
		return nil, file + " differs from the source of this program: another version, or edited since"
	}
	return lines, ""
}

// inner matches the parts of a function's name that the compiler generates for function
// literals and range-over-func bodies.
var inner = regexp.MustCompile(`^(func\d+|gowrap\d+|deferwrap\d+|\d+|)$`)

// holds reports whether the frame's line is in the frame's function: the last function that
// begins before the line has its name. For a variable or an init it only requires that the
// line exists.
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
