package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
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
	at     string          // file:line of ours
	pkg    string          // of upstream's
	symbol string          // "name", "(*type).name" or "type.name"
	only   constraint.Expr // the build constraint of our file; nil: none
}

// name is what a link reaches, as the table of links has it.
func (l link) name() string { return l.pkg + "." + l.symbol }

// shape is the build constraint of our file, as the table of links has it.
func (l link) shape() string { return strings.ReplaceAll(l.only.String(), " ", "") }

// links compares each function of the fork's module that we call by name, there or in a copy, with that of the
// release: the compiler trusts our declaration, and a call of a function with another signature would crash
// without a message. Functions that only our files for the fork's shape call are compared with the table.
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
	recorded, err := readLinked(linkedTable)
	if err != nil {
		return err
	}
	dirs := map[string]string{f.path: f.dir}
	shape, fork := shapes(tables, nil), shapes(tables, dirs)
	var moved []error
	for _, l := range all {
		lacking := false
		for _, c := range tables {
			l.pkg = c.original(l.pkg)
			lacking = lacking || c.lacking(l.pkg, dirs)
		}
		inside, ok := strings.CutPrefix(l.pkg, f.path+"/")
		switch {
		case lacking || !ok || !fits(l.only, fork):
		case fits(l.only, shape):
			moved = append(moved, l.likeRelease(filepath.Join(release, inside), filepath.Join(f.dir, inside)))
		default:
			moved = append(moved, l.likeTable(filepath.Join(f.dir, inside), recorded))
		}
	}
	return errors.Join(moved...)
}

// likeRelease compares the function of a package of the fork with that of the release.
func (l link) likeRelease(release, fork string) error {
	want, _, err := signature(release, l.symbol)
	if err != nil || want == "" {
		return nil // ours is broken: that is our compiler's affair
	}
	got, at, err := signature(fork, l.symbol)
	switch {
	case err != nil:
		return err
	case got == "":
		return fmt.Errorf("%s: no %s, which ipamsim calls (%s)", fork, l.symbol, l.at)
	case got != want:
		return fmt.Errorf("%s: %s is now %s, and ipamsim calls it as %s (%s)", at, l.symbol, got, want, l.at)
	}
	return nil
}

// likeTable compares the function of a package of the fork with what the table has of it.
func (l link) likeTable(fork string, recorded map[string]string) error {
	got, at, err := declared(fork, l.symbol)
	switch {
	case err != nil:
		return err
	case at == "":
		return fmt.Errorf("%s: no %s, which ipamsim calls (%s)", fork, l.symbol, l.at)
	case recorded[l.shape()+" "+l.name()] != shapeSum(got):
		return fmt.Errorf("%s: %s is %s: compare ours (%s), change it, and write in %s: %s %s %s", at, l.symbol, got, l.at, linkedTable, l.name(), shapeSum(got), l.shape())
	}
	return nil
}

// releaseLinks are those of linknames that a build with the releases has.
func releaseLinks(dir string) ([]link, error) {
	tables, err := allCopies()
	if err != nil {
		return nil, err
	}
	shape := shapes(tables, nil)
	all, err := linknames(dir)
	return slices.DeleteFunc(all, func(l link) bool { return !fits(l.only, shape) }), err
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
		only := constrained(file)
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
				out = append(out, link{fmt.Sprintf("%s:%d", p.Filename, p.Line), words[2][:slash+1] + pkg, symbol, only})
			}
		}
		return nil
	})
	return out, err
}

// constrained is the build constraint of a file, or nil.
func constrained(file *ast.File) constraint.Expr {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package && constraint.IsGoBuild(c.Text) {
				if expr, err := constraint.Parse(c.Text); err == nil {
					return expr
				}
			}
		}
	}
	return nil
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
