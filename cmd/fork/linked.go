package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// linkedTable records what every function and variable looked like that ipamsim reaches
// by name (go:linkname), when ours was declared. Neither compiler nor linker compares the
// two: a function that takes one argument more corrupts the stack of the program that
// calls it, and a variable that is gone is a new one of ours, which nothing reads.
//
// Its lines have two fields: the package with the symbol, and the sum of its signature. A third
// one is the build constraint of our file for a fork's shape (shape.go), where only that has it.
const linkedTable = "cmd/fork/linked.txt"

// linked compares every symbol that files under dir reach by name with a table; with update
// it writes the table instead. Packages of Go's own are cmd/hermetic's affair, and
// those that are generated have checksums of their own.
func linked(dir, table string, update bool) error {
	all, err := releaseLinks(dir)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(l link) bool {
		first, _, _ := strings.Cut(l.pkg, "/")
		return first == "ipamsim" || !strings.Contains(first, ".")
	})
	dirs, err := packageDirs(all)
	if err != nil {
		return err
	}
	recorded, err := readLinked(table)
	if err != nil {
		return err
	}
	var moved []error
	now := map[string]string{}
	for _, l := range all {
		shape, at, err := declared(dirs[l.pkg], l.symbol)
		name := l.name()
		now[name] = shapeSum(shape)
		switch {
		case err != nil:
			return err
		case at == "":
			moved = append(moved, fmt.Errorf("%s: no %s, which ipamsim reaches by name; check how it changed, and change ours", l.at, name))
		case !update && now[name] != recorded[name]:
			moved = append(moved, fmt.Errorf("%s: %s is %s: compare ours (%s), change it, then go run ./cmd/fork -update", at, l.symbol, shape, l.at))
		}
	}
	if update && len(moved) == 0 {
		for name, sum := range recorded {
			if strings.Contains(name, " ") { // of a fork's shape
				now[name] = sum
			}
		}
		return writeLinked(table, now)
	}
	return errors.Join(moved...)
}

// shapeSum is the sum of a signature or a declaration.
func shapeSum(shape string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(shape)))[:16] }

// declared is the signature of a function or the declaration of a variable of a package,
// and where it is; at is empty if the package has none of that name.
func declared(dir, symbol string) (shape, at string, err error) {
	if shape, at, err = signature(dir, symbol); at != "" || err != nil {
		return shape, at, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", "", err
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return "", "", err
		}
		if v := variable(file, symbol); v != nil {
			return "var " + text(set, v), set.Position(v.Pos()).String(), nil
		}
	}
	return "", "", nil
}

// variable is the declaration of a variable of a file, or nil.
func variable(file *ast.File, name string) *ast.ValueSpec {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec) // the parser has no others in a var
			if slices.ContainsFunc(v.Names, func(n *ast.Ident) bool { return n.Name == name }) {
				return v
			}
		}
	}
	return nil
}

// packageDirs are the folders of the packages of links.
func packageDirs(all []link) (map[string]string, error) {
	pkgs := map[string]bool{}
	for _, l := range all {
		pkgs[l.pkg] = true
	}
	if len(pkgs) == 0 {
		return nil, nil
	}
	args := []string{"list", "-find", "-f", "{{.ImportPath}}\t{{.Dir}}"}
	out, err := command(append(args, slices.Sorted(maps.Keys(pkgs))...)...)
	if err != nil {
		return nil, err
	}
	return byPath(out), nil
}

// readLinked reads a table: sums by symbol, or by constraint and symbol.
func readLinked(table string) (map[string]string, error) {
	b, err := os.ReadFile(table)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for l := range strings.Lines(string(b)) {
		switch f := strings.Fields(l); {
		case strings.HasPrefix(l, "#"):
		case len(f) == 2:
			sums[f[0]] = f[1]
		case len(f) == 3:
			sums[f[2]+" "+f[0]] = f[1]
		}
	}
	return sums, nil
}

func writeLinked(table string, sums map[string]string) error {
	var b strings.Builder
	b.WriteString("# Made by go run ./cmd/fork -update: what ipamsim reaches by name (linked.go).\n")
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if tag, symbol, ok := strings.Cut(name, " "); ok {
			fmt.Fprintln(&b, symbol, sums[name], tag)
		} else {
			fmt.Fprintln(&b, name, sums[name])
		}
	}
	return os.WriteFile(table, []byte(b.String()), 0o666)
}
