package mutants

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// all finds the mutants of a file.
func (w *walk) all() {
	for _, d := range w.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Recv != nil && (f.Name.Name == "String" || f.Name.Name == "Error") || counts(f.Name.Name) {
			continue
		}
		w.fn = f.Name.Name
		if f.Recv != nil {
			w.fn = w.short(f.Recv.List[0].Type.Pos(), f.Recv.List[0].Type.End()) + "." + w.fn
		}
		w.function(f.Type, f.Body)
	}
}

// function finds the mutants of a function's body, and of the function literals in it.
func (w *walk) function(sig *ast.FuncType, body *ast.BlockStmt) {
	done := map[ast.Expr]bool{} // conditions that were already found
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.function(n.Type, n.Body)
			return false
		case *ast.DeclStmt:
			return n.Decl.(*ast.GenDecl).Tok == token.VAR
		case *ast.BlockStmt:
			w.statements(n.List)
		case *ast.CaseClause:
			w.statements(n.Body)
		case *ast.CommClause:
			w.statements(n.Body)
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, c := range n.Body.List {
					for _, e := range c.(*ast.CaseClause).List {
						w.condition(e, done)
					}
				}
			}
		case *ast.IfStmt:
			w.swallow(n)
			w.condition(n.Cond, done)
		case *ast.ForStmt:
			if n.Cond != nil {
				w.condition(n.Cond, done)
			}
		case *ast.ReturnStmt:
			w.returned(sig, n)
		case *ast.CompositeLit:
			w.preconditions(n)
		case *ast.ArrayType:
			return false
		case *ast.CallExpr:
			if w.quiet(n) {
				return false
			}
		}
		if e, ok := n.(ast.Expr); ok {
			return w.expression(e, done)
		}
		return true
	})
}

// expression finds the mutants of an expression that is not a condition. It reports whether the
// expression may contain more.
func (w *walk) expression(e ast.Expr, done map[ast.Expr]bool) bool {
	if tv := w.info.Types[e]; tv.Value != nil {
		w.constant(e, tv)
		return false
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR || compares(e.Op) {
			w.condition(e, done)
		}
		// The type of a shift's constant depends on the use of the shift.
		if tv := w.info.Types[e.X]; (e.Op == token.SHL || e.Op == token.SHR) && tv.Value != nil {
			return false
		}
	case *ast.KeyValueExpr:
		// The key of a field or an index does not change.
		w.inKeyed = append(w.inKeyed, e.Key)
	}
	return !slices.Contains(w.inKeyed, e)
}

func compares(op token.Token) bool {
	return slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}, op)
}

// condition finds the mutants of a condition, or of its operands.
func (w *walk) condition(e ast.Expr, done map[ast.Expr]bool) {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			break
		}
		e = p.X
	}
	if done[e] {
		return
	}
	done[e] = true
	b, binary := e.(*ast.BinaryExpr)
	if binary && (b.Op == token.LAND || b.Op == token.LOR) {
		w.andOr(b)
		w.condition(b.X, done)
		w.condition(b.Y, done)
		return
	}
	if call, ok := e.(*ast.CallExpr); ok && w.quiet(call) {
		return
	}
	if tv := w.info.Types[e]; tv.Type == nil || tv.Value != nil || !types.Identical(types.Default(tv.Type), types.Typ[types.Bool]) {
		return
	}
	id := w.add(NegateCondition, e.Pos(), e.End(), "!("+w.short(e.Pos(), e.End())+")")
	w.wrap(e, call("Not", id), ")")
	if binary {
		w.boundary(b)
	}
}

// andOr exchanges && and ||. Each operand is evaluated at most once, in its order.
func (w *walk) andOr(e *ast.BinaryExpr) {
	other, on := token.LOR, "On"
	if e.Op == token.LOR {
		other, on = token.LAND, "Keep"
	}
	id := w.add(AndOr, e.Pos(), e.End(), w.short(e.X.Pos(), e.X.End())+" "+other.String()+" "+w.short(e.Y.Pos(), e.Y.End()))
	w.replace(e.Pos(), e.End(), func(in func(from, to token.Pos) string) string {
		// a && b: with the mutant on, b is evaluated if a is false.
		asked, y := alias+"."+on+"("+number(id)+")", in(e.Y.Pos(), e.Y.End())
		return "((" + in(e.X.Pos(), e.X.End()) + ") && (" + asked + " || (" + y + ")) || " + asked + " && (" + y + "))"
	})
}

// boundary exchanges < and <=, > and >=.
func (w *walk) boundary(e *ast.BinaryExpr) {
	all := map[token.Token]struct {
		function string
		other    token.Token
	}{
		token.LSS: {"Less", token.LEQ}, token.LEQ: {"LessEqual", token.LSS},
		token.GTR: {"Greater", token.GEQ}, token.GEQ: {"GreaterEqual", token.GTR},
	}
	op, ok := all[e.Op]
	if !ok || w.info.Types[e.X].Type == nil {
		return
	}
	id := w.add(Boundary, e.Pos(), e.End(), w.short(e.X.Pos(), e.X.End())+" "+op.other.String()+" "+w.short(e.Y.Pos(), e.Y.End()))
	w.replace(e.Pos(), e.End(), func(in func(from, to token.Pos) string) string {
		return call(op.function, id) + in(e.X.Pos(), e.X.End()) + ", " + in(e.Y.Pos(), e.Y.End()) + ")"
	})
}

// constant increments or decrements a constant.
func (w *walk) constant(e ast.Expr, tv types.TypeAndValue) {
	switch e := e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.UnaryExpr:
	case *ast.BasicLit:
		if e.Kind != token.INT {
			return
		}
	default:
		return
	}
	t, ok := types.Default(tv.Type).(*types.Basic)
	if !ok || t.Info()&types.IsInteger == 0 || tv.Value.Kind() != constant.Int || slices.Contains(w.inKeyed, e) {
		return
	}
	text := w.short(e.Pos(), e.End())
	more := w.add(Constant, e.Pos(), e.End(), text+" + 1")
	less := w.add(Constant, e.Pos(), e.End(), text+" - 1")
	w.wrap(e, alias+".Int["+t.Name()+"]("+number(more)+", "+number(less)+", ", ")")
}

// isError reports whether an expression is of type error.
func (w *walk) isError(e ast.Expr) bool {
	t := w.info.Types[e].Type
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// quiet reports whether a call logs, counts, prints, creates an Event or the text of an error.
func (w *walk) quiet(c *ast.CallExpr) bool {
	var name *ast.Ident
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return false
	}
	o := w.info.Uses[name]
	if o == nil || o.Pkg() == nil {
		return false
	}
	pkg := path.Base(majorVersion.ReplaceAllString(o.Pkg().Path(), ""))
	switch {
	case slices.Contains(quietPackages, pkg) || counts(name.Name) || slices.Contains(quietNames, name.Name):
		return true
	case pkg == "fmt":
		return strings.Contains(name.Name, "rint") && !strings.HasPrefix(name.Name, "S")
	case pkg == "errors":
		return name.Name == "New" || strings.HasPrefix(name.Name, "Wrap")
	}
	return false
}

// quietNames are functions of any package that create the text of an error, a log line or an Event.
var quietNames = []string{"Errorf", "Warnf", "Infof"}

// quietPackages are the packages of logs, metrics and Events, by the last element of their paths.
var quietPackages = []string{"log", "slog", "logr", "logrus", "klog", "logging", "logutils", "prometheus", "record"}

// counts reports whether the name is that of a function for metrics.
func counts(name string) bool { return strings.Contains(strings.ToLower(name), "metric") }

var majorVersion = regexp.MustCompile(`/v[0-9]+$`)
