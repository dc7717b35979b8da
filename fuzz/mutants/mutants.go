// Package mutants makes a program's mutants: small changes for the worse, as somebody
// makes them who writes a condition the wrong way round or forgets an error. A gate that
// does not see one is blind there.
//
// All mutants of a module are in one copy of its source, each behind a switch that the
// environment of a process sets (package mutant): a build for each of them would take
// longer than its runs. Mutant 0 is none: the copy does what the module does, which
// whoever measures has to see first.
//
// What a change cannot do to an allocation is not changed: calls that log, count,
// make an Event or the text of an error (see quiet), methods String and Error, generated
// files, and whatever is outside of functions.
package mutants

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Operator is a kind of change.
type Operator string

// The operators, and what each of them does.
const (
	NegateCondition  Operator = "negate-condition"  // a condition, or an operand of && and ||, is turned round
	Boundary         Operator = "boundary"          // < and <=, > and >= take each other's place
	AndOr            Operator = "and-or"            // && and || do
	DropCall         Operator = "drop-call"         // a statement that is a call is left out; defer and go, too
	DropAssignment   Operator = "drop-assignment"   // an assignment to what is declared before is
	SwallowError     Operator = "swallow-error"     // "if err != nil { …; return }" is
	ReturnNil        Operator = "return-nil"        // an error that is returned becomes nil
	DropPrecondition Operator = "drop-precondition" // a revision, a UID, or a "test" of a JSON patch is left out
	Constant         Operator = "constant"          // an integer constant is one more, or one less
	SwapCalls        Operator = "swap-calls"        // two calls that follow each other change places
)

// Operators are all of them, in the order of tables.
var Operators = []Operator{NegateCondition, Boundary, AndOr, DropCall, DropAssignment, SwallowError, ReturnNil, DropPrecondition, Constant, SwapCalls}

// Mutant is one change.
type Mutant struct {
	ID       int      `json:"id"` // from 1, in the order in which they are found
	Operator Operator `json:"operator"`
	File     string   `json:"file"` // relative to the module
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Func     string   `json:"func"`
	From     string   `json:"from"`         // what stands there, on one line
	To       string   `json:"to,omitempty"` // what it becomes; "" if it is left out
}

// Key names a mutant as long as its file stays as it is.
func (m *Mutant) Key() string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d:%d %s %s", m.File, m.Line, m.Column, m.Operator, m.To))
}

// File is a file's text with all its mutants in it.
type File struct {
	Path string // relative to the module
	Text []byte
}

// Source is the package that changed files import, as text.
//
//go:embed mutant/mutant.go
var Source []byte

// alias is by which name changed files know it.
const alias = "mutant"

// Make makes all mutants of a package's files, numbered from first. imported is the path
// under which they import Source. only are the names of the files to change; none: all.
//
// It returns the files that have mutants, and these.
func Make(p *Package, imported string, only []string, first int) ([]File, []Mutant, error) {
	var files []File
	var all []Mutant
	for i, f := range p.files {
		if len(only) > 0 && !slices.Contains(only, filepath.Base(p.paths[i])) || ast.IsGenerated(f) {
			continue
		}
		w := &walk{Package: p, file: f, src: p.texts[i], path: filepath.ToSlash(p.paths[i]), next: first + len(all)}
		w.all()
		if len(w.mutants) == 0 {
			continue
		}
		for name := range f.Scope.Objects {
			if name == alias {
				return nil, nil, fmt.Errorf("%s: it declares %s, which is what its changes call", w.path, alias)
			}
		}
		text, err := w.text(imported)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", w.path, err)
		}
		files = append(files, File{w.path, text})
		all = append(all, w.mutants...)
	}
	return files, all, nil
}

// walk is through one file.
type walk struct {
	*Package
	file    *ast.File
	src     []byte
	path    string
	next    int // number of the next mutant
	fn      string
	mutants []Mutant
	edits   []edit
	inKeyed []ast.Expr // keys of composite literals, which stay
}

// add a mutant of what stands between two places.
func (w *walk) add(op Operator, from, to token.Pos, becomes string) int {
	at := w.fset.PositionFor(from, false)
	id := w.next
	w.next++
	w.mutants = append(w.mutants, Mutant{ID: id, Operator: op, File: w.path, Line: at.Line, Column: at.Column, Func: w.fn,
		From: w.short(from, to), To: becomes})
	return id
}

// short is source on one line.
func (w *walk) short(from, to token.Pos) string {
	s := strings.Join(strings.Fields(string(w.src[w.offset(from):w.offset(to)])), " ")
	if r := []rune(s); len(r) > shortMax {
		s = string(r[:shortMax-1]) + "…"
	}
	return s
}

const shortMax = 120

func (w *walk) offset(p token.Pos) int { return w.fset.PositionFor(p, false).Offset }
