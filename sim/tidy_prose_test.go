package sim_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// The rule "prose": nobody takes our own sentences apart. What a sentence says stands as
// data beside it (model/act, model.Violation, model.Event); whoever searches the text for
// it breaks when somebody writes a better word, and finds another word that only looks
// like it: "10.0.0.0" in "block 10.0.0.0/26".
//
// Sentences are made in reports/prose and in model/invariant. They are known by where
// they come from: a call of package prose or of one of tellers, or a field of the name of
// one of sentences, whatever it is of, because the rule sees syntax and not types. What
// takes apart are the functions of package strings in takesApart (but into lines anything
// may be cut, which is layout), methods of a regexp and the comparison with a literal that
// is not empty. The rule follows a sentence through
// the variables of one function, and not through its parameters: so layout may break a
// line wherever it likes, and TestWording of reports/timeline covers what hides behind a call.
//
// Texts of others, such as upstream's errors, are no sentences of ours: of those a text
// is all that there is.
const proseRule = "prose"

var (
	prosePackage = "ipamsim/reports/prose"
	tellers      = map[string]string{"ipamsim/reports": "Also Line", "ipamsim/reports/timeline": "Of Story Turns Words Said spoken"}
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
	told := map[string]bool{} // variables that hold a sentence
	complain := func(at token.Pos) {
		h.complain(at, proseRule, "takes a sentence of our own apart; ask the data that it was made of")
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && i < len(n.Rhs) && h.sentence(n.Rhs[i], told) {
					told[id.Name] = true
				}
			}
		case *ast.CallExpr:
			if len(n.Args) > 0 && h.cutter(n.Fun) && !lineEnd(n.Args[len(n.Args)-1]) && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return h.sentence(a, told) }) {
				complain(n.Pos())
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (h.sentence(n.X, told) && literal(n.Y) || h.sentence(n.Y, told) && literal(n.X)) {
				complain(n.Pos())
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && h.sentence(n.Tag, told) {
				complain(n.Pos())
			}
		}
		return true
	})
}

// sentence reports whether an expression is a text of ours, or one with something before
// or behind.
func (h *house) sentence(e ast.Expr, told map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return told[e.Name]
	case *ast.ParenExpr:
		return h.sentence(e.X, told)
	case *ast.SelectorExpr:
		return slices.Contains(strings.Fields(sentences), e.Sel.Name)
	case *ast.IndexExpr:
		return h.sentence(e.X, told)
	case *ast.SliceExpr:
		return h.sentence(e.X, told)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (h.sentence(e.X, told) || h.sentence(e.Y, told))
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.Ident:
			return slices.Contains(strings.Fields(tellers["ipamsim/"+h.dir]), f.Name)
		case *ast.SelectorExpr:
			id, ok := f.X.(*ast.Ident)
			if !ok || id.Obj != nil {
				return false
			}
			from := h.imported(id.Name)
			return from == prosePackage || slices.Contains(strings.Fields(tellers[from]), f.Sel.Name) ||
				from == "strings" && strings.HasPrefix(f.Sel.Name, "Trim") && len(e.Args) > 0 && h.sentence(e.Args[0], told)
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
