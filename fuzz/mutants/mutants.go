// Package mutants creates mutants of a program: small changes for the worse, such as an inverted
// condition or a forgotten error. A gate that does not detect a mutant would not detect the same
// mistake of a programmer.
//
// All mutants of a module are in one copy of its source, each behind a switch that an environment
// variable of a process sets (package mutant), because a build for each mutant would take longer
// than its runs. Without an active mutant the copy must do what the module does; measurements
// check that first.
//
// Code that an allocation cannot depend on is not mutated: calls that log, count, create an Event or
// the text of an error (see quiet), methods String and Error, generated files, and code outside of
// functions.
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

// The operators.
const (
	NegateCondition  Operator = "negate-condition"  // negates a condition, or an operand of && and ||
	Boundary         Operator = "boundary"          // exchanges < and <=, > and >=
	AndOr            Operator = "and-or"            // exchanges && and ||
	DropCall         Operator = "drop-call"         // leaves out a statement that is a call, also with defer or go
	DropAssignment   Operator = "drop-assignment"   // leaves out an assignment to a variable that exists
	SwallowError     Operator = "swallow-error"     // leaves out "if err != nil { …; return }"
	ReturnNil        Operator = "return-nil"        // returns nil instead of an error
	DropPrecondition Operator = "drop-precondition" // leaves out a revision, a UID, or a "test" of a JSON patch
	Constant         Operator = "constant"          // increments or decrements an integer constant
	SwapCalls        Operator = "swap-calls"        // exchanges two consecutive calls
)

// Operators are all operators, in the order of tables.
var Operators = []Operator{NegateCondition, Boundary, AndOr, DropCall, DropAssignment, SwallowError, ReturnNil, DropPrecondition, Constant, SwapCalls}

// Mutant is one change.
type Mutant struct {
	ID       int      `json:"id"` // from 1, in the order in which mutants are found
	Operator Operator `json:"operator"`
	File     string   `json:"file"` // relative to the module
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Func     string   `json:"func"`
	From     string   `json:"from"`         // the original source, on one line
	To       string   `json:"to,omitempty"` // the changed source; "" if it is left out
}

// Key identifies a mutant as long as its file does not change.
func (m *Mutant) Key() string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d:%d %s %s", m.File, m.Line, m.Column, m.Operator, m.To))
}

// File is the text of a file with all its mutants.
type File struct {
	Path string // relative to the module
	Text []byte
}

// Source is the source of the package that mutated files import.
//
//go:embed mutant/mutant.go
var Source []byte

// alias is the name of that package in mutated files.
const alias = "mutant"

// Make creates all mutants of a package's files, numbered from first. imported is the import path of
// Source. only are the names of the files to mutate; none: all.
//
// It returns the files that have mutants, and the mutants.
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

// walk is the traversal of one file.
type walk struct {
	*Package
	file    *ast.File
	src     []byte
	path    string
	next    int // number of the next mutant
	fn      string
	mutants []Mutant
	edits   []edit
	inKeyed []ast.Expr // keys of composite literals, which do not change
}

// add adds a mutant of the source between two positions.
func (w *walk) add(op Operator, from, to token.Pos, becomes string) int {
	at := w.fset.PositionFor(from, false)
	id := w.next
	w.next++
	w.mutants = append(w.mutants, Mutant{ID: id, Operator: op, File: w.path, Line: at.Line, Column: at.Column, Func: w.fn,
		From: w.short(from, to), To: becomes})
	return id
}

// short returns source on one line, shortened.
func (w *walk) short(from, to token.Pos) string {
	s := strings.Join(strings.Fields(string(w.src[w.offset(from):w.offset(to)])), " ")
	if r := []rune(s); len(r) > shortMax {
		s = string(r[:shortMax-1]) + "…"
	}
	return s
}

const shortMax = 120

func (w *walk) offset(p token.Pos) int { return w.fset.PositionFor(p, false).Offset }
