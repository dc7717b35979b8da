package mutants

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

func number(id int) string { return strconv.Itoa(id) }

// call returns the beginning of a call of a function of package mutant.
func call(function string, id int) string { return alias + "." + function + "(" + number(id) + ", " }

// statements finds the mutants of consecutive statements.
func (w *walk) statements(list []ast.Stmt) {
	for _, group := range swappable(list, w.swaps) {
		w.swap(group)
	}
	for _, s := range list {
		op := w.drops(s)
		if op == "" {
			continue
		}
		id := w.add(op, s.Pos(), s.End(), "")
		w.replace(s.Pos(), s.End(), func(in func(from, to token.Pos) string) string {
			return "if " + alias + ".Keep(" + number(id) + ") { " + in(s.Pos(), s.End()) + " }"
		})
	}
}

// drops returns the operator that leaves out a statement, or "".
func (w *walk) drops(s ast.Stmt) Operator {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if w.acts(s.X) {
			return DropCall
		}
	case *ast.DeferStmt:
		if w.acts(s.Call) {
			return DropCall
		}
	case *ast.GoStmt:
		return DropCall
	case *ast.IncDecStmt:
		return DropAssignment
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || len(s.Rhs) == 1 && !w.acts(s.Rhs[0]) && isCall(s.Rhs[0]) {
			return ""
		}
		if sel, ok := s.Lhs[0].(*ast.SelectorExpr); ok && slices.Contains(preconditionFields, sel.Sel.Name) {
			return DropPrecondition
		}
		return DropAssignment
	}
	return ""
}

func isCall(e ast.Expr) bool {
	_, ok := e.(*ast.CallExpr)
	return ok
}

// acts reports whether an expression is a call that is not quiet and does not panic. (Without the panic
// the compiler would miss a return.)
func (w *walk) acts(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok || w.quiet(c) {
		return false
	}
	id, ok := c.Fun.(*ast.Ident)
	return !ok || id.Name != "panic"
}

// swaps reports whether a statement is a call that can be exchanged with another one: it declares nothing
// that other statements use.
func (w *walk) swaps(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return w.acts(s.X)
	case *ast.AssignStmt:
		return s.Tok == token.ASSIGN && len(s.Rhs) == 1 && w.acts(s.Rhs[0])
	case *ast.IfStmt:
		init, ok := s.Init.(*ast.AssignStmt)
		return ok && s.Else == nil && len(init.Rhs) == 1 && w.acts(init.Rhs[0])
	}
	return false
}

// swappable returns the groups of two or more consecutive statements that fit.
func swappable(list []ast.Stmt, fits func(ast.Stmt) bool) (out [][]ast.Stmt) {
	for len(list) > 0 {
		n := 0
		for n < len(list) && fits(list[n]) {
			n++
		}
		if n > 1 {
			out = append(out, list[:n])
		}
		list = list[max(n, 1):]
	}
	return out
}

// swap finds the mutants that exchange two consecutive statements. They overlap, so they are one edit.
func (w *walk) swap(group []ast.Stmt) {
	first, last := group[0].Pos(), group[len(group)-1].End()
	var ids []int
	for i := range group[1:] {
		a, b := group[i], group[i+1]
		ids = append(ids, w.add(SwapCalls, a.Pos(), b.End(), w.short(b.Pos(), b.End())+"; "+w.short(a.Pos(), a.End())))
	}
	w.replace(first, last, func(in func(from, to token.Pos) string) string {
		var out string
		for i, id := range ids {
			order := slices.Clone(group)
			order[i], order[i+1] = order[i+1], order[i]
			out += "if " + alias + ".On(" + number(id) + ") {\n"
			for _, s := range order {
				out += in(s.Pos(), s.End()) + "\n"
			}
			out += "} else "
		}
		return out + "{\n" + in(first, last) + "\n}"
	})
}

// swallow finds "if err != nil { …; return }", which the mutant leaves out.
func (w *walk) swallow(s *ast.IfStmt) {
	b, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ || !w.isError(b.X) || !w.info.Types[b.Y].IsNil() || len(s.Body.List) == 0 {
		return
	}
	switch s.Body.List[len(s.Body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
	default:
		return
	}
	id := w.add(SwallowError, s.Pos(), s.Body.Lbrace, "")
	w.wrap(s.Cond, "("+alias+".Keep("+number(id)+") && ", ")")
}

// returned finds returned errors, which the mutant replaces by nil.
func (w *walk) returned(sig *ast.FuncType, s *ast.ReturnStmt) {
	var kinds []ast.Expr // a type for each result
	if sig.Results != nil {
		for _, f := range sig.Results.List {
			for range max(1, len(f.Names)) {
				kinds = append(kinds, f.Type)
			}
		}
	}
	if len(kinds) != len(s.Results) {
		return
	}
	for i, e := range s.Results {
		if !w.isError(kinds[i]) || w.info.Types[e].IsNil() || w.info.Types[e].Type == nil {
			continue
		}
		id := w.add(ReturnNil, e.Pos(), e.End(), "nil")
		w.wrap(e, call("Err", id), ")")
	}
}

// preconditionFields are the fields by which a write is refused after another process's write.
var preconditionFields = []string{"Revision", "ResourceVersion", "UID", "Preconditions"}

// preconditions finds the preconditions of a composite literal: fields, and tests of a JSON patch.
func (w *walk) preconditions(l *ast.CompositeLit) {
	for i, e := range l.Elts {
		switch e := e.(type) {
		case *ast.KeyValueExpr:
			key, ok := e.Key.(*ast.Ident)
			tv := w.info.Types[e.Value]
			if !ok || !slices.Contains(preconditionFields, key.Name) || tv.Type == nil || tv.Value != nil || tv.IsNil() {
				continue
			}
			id := w.add(DropPrecondition, e.Pos(), e.End(), "")
			w.wrap(e.Value, call("Zero", id), ")")
		case *ast.CompositeLit:
			if _, slice := w.kind(l).(*types.Slice); !slice || !w.tests(e) {
				continue
			}
			id := w.add(DropPrecondition, e.Pos(), e.End(), "")
			w.wrap(l, alias+".Drop("+number(id)+", "+number(i)+", ", ")")
		}
	}
}

func (w *walk) kind(e ast.Expr) types.Type {
	if t := w.info.Types[e].Type; t != nil {
		return t.Underlying()
	}
	return nil
}

// tests reports whether a literal is the operation "test" of a JSON patch.
func (w *walk) tests(l *ast.CompositeLit) bool {
	return slices.ContainsFunc(l.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		v := w.info.Types[kv.Value].Value
		return v != nil && v.Kind() == constant.String && constant.StringVal(v) == "test"
	})
}
