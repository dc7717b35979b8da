package sim_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// The rule "prose": our code does not parse its own sentences. The facts of a sentence exist
// as data beside it (model/act, model.Violation, model.Event). Code that searches the text
// breaks when the wording improves, and matches what only looks alike: "10.0.0.0" in "block
// 10.0.0.0/26".
//
// Sentences are made in reports/prose and in model/invariant. The rule recognises them by
// their origin: a call of package prose or of a function in renderers, or a field with a name
// in sentences, of whatever type, because the rule sees syntax and not types. Parsing is a
// function of package strings in takesApart (except splitting into lines, which is layout), a
// method of a regexp, or a comparison with a literal that is not empty. The rule follows a
// sentence through the variables of one function, and not through its parameters: so layout
// may break a line anywhere, and TestWording of reports/timeline covers what hides behind a
// call.
//
// Texts from elsewhere, such as upstream's errors, may be parsed, because they have no data
// beside them.
const proseRule = "prose"

var (
	prosePackage = "ipamsim/reports/prose"
	renderers    = map[string]string{"ipamsim/reports": "Also Line", "ipamsim/reports/timeline": "Of Story Turns Words Said spoken"}
	sentences    = "Message Text Timeline text brief"
	takesApart   = "Contains ContainsAny ContainsRune Count Cut CutPrefix CutSuffix EqualFold Fields FieldsFunc FieldsSeq HasPrefix HasSuffix " +
		"Index IndexAny IndexByte IndexFunc IndexRune LastIndex LastIndexByte Split SplitN SplitSeq SplitAfter"
	regexps = "FindAllString FindAllStringIndex FindAllStringSubmatch FindString FindStringIndex FindStringSubmatch MatchString ReplaceAllString ReplaceAllStringFunc Split"
)

// prose checks the functions of a file.
func (h *house) prose() {
	if h.dir == strings.TrimPrefix(prosePackage, "ipamsim/") || allows(proseRule, h.dir) {
		return
	}
	for _, d := range h.file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && f.Body != nil {
				h.proseIn(f.Body)
			}
			return true
		})
	}
}

func (h *house) proseIn(body *ast.BlockStmt) {
	held := map[string]bool{} // variables that hold a sentence
	complain := func(at token.Pos) {
		h.complain(at, proseRule, "takes a sentence of our own apart; ask the data that it was made of")
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && i < len(n.Rhs) && h.sentence(n.Rhs[i], held) {
					held[id.Name] = true
				}
			}
		case *ast.CallExpr:
			if len(n.Args) > 0 && h.cutter(n.Fun) && !lineEnd(n.Args[len(n.Args)-1]) && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return h.sentence(a, held) }) {
				complain(n.Pos())
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (h.sentence(n.X, held) && literal(n.Y) || h.sentence(n.Y, held) && literal(n.X)) {
				complain(n.Pos())
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && h.sentence(n.Tag, held) {
				complain(n.Pos())
			}
		}
		return true
	})
}

// sentence reports whether an expression is a text of ours, or one with something before
// or behind.
func (h *house) sentence(e ast.Expr, held map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return held[e.Name]
	case *ast.ParenExpr:
		return h.sentence(e.X, held)
	case *ast.SelectorExpr:
		return slices.Contains(strings.Fields(sentences), e.Sel.Name)
	case *ast.IndexExpr:
		return h.sentence(e.X, held)
	case *ast.SliceExpr:
		return h.sentence(e.X, held)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (h.sentence(e.X, held) || h.sentence(e.Y, held))
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.Ident:
			return slices.Contains(strings.Fields(renderers["ipamsim/"+h.dir]), f.Name)
		case *ast.SelectorExpr:
			id, ok := f.X.(*ast.Ident)
			if !ok || id.Obj != nil {
				return false
			}
			from := h.imported(id.Name)
			return from == prosePackage || slices.Contains(strings.Fields(renderers[from]), f.Sel.Name) ||
				from == "strings" && strings.HasPrefix(f.Sel.Name, "Trim") && len(e.Args) > 0 && h.sentence(e.Args[0], held)
		}
	}
	return false
}

// cutter reports whether a function takes a text apart.
func (h *house) cutter(fun ast.Expr) bool {
	f, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if id, ok := f.X.(*ast.Ident); ok && id.Obj == nil {
		if from := h.imported(id.Name); from == "strings" {
			return slices.Contains(strings.Fields(takesApart), f.Sel.Name)
		} else if from != "" {
			return false
		}
	}
	return slices.Contains(strings.Fields(regexps), f.Sel.Name)
}

func literal(e ast.Expr) bool { return quoted(e) != "" }

func lineEnd(e ast.Expr) bool { return quoted(e) == "\n" }

// quoted is what a literal says, "" if it is none.
func quoted(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}
