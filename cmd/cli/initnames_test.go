package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Modules of authors were written by earlier releases' ipamsim init: the names that it uses of our packages
// stay. That the module builds is shown by make init-test, in minutes.
func TestInitNamesAreExported(t *testing.T) {
	dir, files, used := written(t), token.NewFileSet(), 0
	for name := range skeletonFiles {
		name = strings.ReplaceAll(name, "<<.Name>>", "firstfree")
		if filepath.Ext(name) != ".go" {
			continue
		}
		f, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		exported := map[string]map[string]bool{} // by the package's name in the file
		for _, i := range f.Imports {
			pkg, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inside, ours := strings.CutPrefix(pkg, "ipamsim/"); ours {
				as := path.Base(pkg)
				if i.Name != nil {
					as = i.Name.Name
				}
				exported[as] = exportedOf(t, filepath.Join("..", "..", inside))
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && exported[x.Name] != nil {
					if used++; !exported[x.Name][s.Sel.Name] {
						t.Errorf("%s: there is no %s.%s", files.Position(s.Pos()), x.Name, s.Sel.Name)
					}
				}
			}
			return true
		})
	}
	if used < 50 {
		t.Errorf("%d names are used", used)
	}
}

// exportedOf are the names that a package declares.
func exportedOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no Go files: %v", dir, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					out[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						out[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							out[n.Name] = true
						}
					}
				}
			}
		}
	}
	return out
}
