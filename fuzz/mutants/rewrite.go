package mutants

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"slices"
	"strings"
)

// edit replaces the source between two offsets. put receives a function that returns the source
// between two positions with the inner edits applied; put may call it twice.
type edit struct {
	from, to int
	put      func(in func(from, to token.Pos) string) string
}

// replace adds an edit of a node. If several edits replace the same source, the first one is outermost.
func (w *walk) replace(from, to token.Pos, put func(in func(from, to token.Pos) string) string) {
	w.edits = append(w.edits, edit{w.offset(from), w.offset(to), put})
}

// wrap puts a call around an expression.
func (w *walk) wrap(e ast.Expr, before, after string) {
	w.replace(e.Pos(), e.End(), func(in func(from, to token.Pos) string) string { return before + in(e.Pos(), e.End()) + after })
}

// text returns the file with all edits applied, formatted.
func (w *walk) text(imported string) ([]byte, error) {
	slices.SortStableFunc(w.edits, func(a, b edit) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	end := w.offset(w.file.Name.End())
	var b strings.Builder
	b.Write(w.src[:end])
	body := w.render(w.edits, end, len(w.src))
	// The declaration follows the last import, because cmd/fork parses the package clause and the imports.
	at := end
	for _, d := range w.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			at = w.offset(g.End())
		}
	}
	b.Write(w.src[end:at])
	fmt.Fprintf(&b, "\nimport %s %q\n", alias, imported)
	b.WriteString(body[at-end:])
	return format.Source([]byte(b.String()))
}

// render returns the source between two offsets with the edits, which all lie between them, applied.
func (w *walk) render(edits []edit, from, to int) string {
	var b strings.Builder
	for len(edits) > 0 {
		e := edits[0]
		edits = edits[1:]
		n := 0 // number of inner edits
		for n < len(edits) && edits[n].from < e.to {
			n++
		}
		inner := edits[:n]
		edits = edits[n:]
		b.Write(w.src[from:e.from])
		b.WriteString(e.put(func(from, to token.Pos) string {
			x, y := w.offset(from), w.offset(to)
			var some []edit
			for _, i := range inner {
				if i.from >= x && i.to <= y {
					some = append(some, i)
				}
			}
			return w.render(some, x, y)
		}))
		from = e.to
	}
	b.Write(w.src[from:to])
	return b.String()
}
