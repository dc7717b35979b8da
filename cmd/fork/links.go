package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// link is a function of upstream's that we call by name.
type link struct {
	at     string // file:line of ours
	pkg    string // of upstream's
	symbol string // "name", "(*type).name" or "type.name"
}

// links compares each function of the fork's module that we call by name, there or in
// a copy, with that of the release: the compiler believes what our file says of it, and
// a call of a function that takes something else would be a crash without a word.
func (f *fork) links(release string) error {
	all, err := linknames("sim/ipam")
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(l link) bool { return strings.Contains(l.at, "_test.go:") })
	tables, err := allCopies()
	if err != nil {
		return err
	}
	var moved []error
	for _, l := range all {
		lacking := false
		for _, c := range tables {
			l.pkg = c.original(l.pkg)
			lacking = lacking || c.lacking(l.pkg, map[string]string{f.path: f.dir})
		}
		if lacking {
			continue
		}
		inside, ok := strings.CutPrefix(l.pkg, f.path+"/")
		if !ok {
			continue
		}
		want, _, err := signature(filepath.Join(release, inside), l.symbol)
		if err != nil || want == "" {
			continue // ours is broken: that is our compiler's affair
		}
		got, at, err := signature(filepath.Join(f.dir, inside), l.symbol)
		switch {
		case err != nil:
			return err
		case got == "":
			moved = append(moved, fmt.Errorf("%s: no %s, which ipamsim calls (%s)", filepath.Join(f.dir, inside), l.symbol, l.at))
		case got != want:
			moved = append(moved, fmt.Errorf("%s: %s is now %s, and ipamsim calls it as %s (%s)", at, l.symbol, got, want, l.at))
		}
	}
	return errors.Join(moved...)
}

// linknames are the pulls of all files under dir, those of tests too.
func linknames(dir string) ([]link, error) {
	var out []link
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				words := strings.Fields(c.Text)
				if len(words) != 3 || words[0] != "//go:linkname" {
					continue
				}
				slash := strings.LastIndexByte(words[2], '/')
				pkg, symbol, ok := strings.Cut(words[2][slash+1:], ".")
				if !ok {
					continue
				}
				p := set.Position(c.Pos())
				out = append(out, link{fmt.Sprintf("%s:%d", p.Filename, p.Line), words[2][:slash+1] + pkg, symbol})
			}
		}
		return nil
	})
	return out, err
}

// signature is what a function or method of a package takes and returns, by
// types, and where it is. It is empty if the package has none of that name.
func signature(dir, symbol string) (sig, at string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", "", err
	}
	f, err := find(files, symbol)
	if f.at == "" {
		return "", "", err
	}
	spell(f.file, f.Type)
	return "func(" + types(f.set, f.Type.Params) + ") (" + types(f.set, f.Type.Results) + ")", f.at, nil
}

// spell writes the path of a package in place of the name that a file has given
// it, and any for interface{}: neither makes another type.
func spell(file *ast.File, f *ast.FuncType) {
	paths := map[string]string{}
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue // the parser has read it
		}
		if i.Name != nil {
			paths[i.Name.Name] = path
		} else {
			paths[filepath.Base(path)] = path
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && paths[x.Name] != "" {
				x.Name = paths[x.Name]
			}
		}
		return true
	})
}

// types are those of a list of parameters, one for each name.
func types(set *token.FileSet, list *ast.FieldList) string {
	var out []string
	if list == nil {
		return ""
	}
	for _, field := range list.List {
		for range max(1, len(field.Names)) {
			out = append(out, text(set, field.Type))
		}
	}
	return strings.Join(out, ", ")
}

func text(set *token.FileSet, n ast.Node) string {
	var b strings.Builder
	if err := printer.Fprint(&b, set, n); err != nil {
		return err.Error() // no writer of ours fails
	}
	return strings.ReplaceAll(b.String(), "interface{}", "any")
}
