package space_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source parses upstream's packages. Reflection has the types, but neither the constants of a type
// nor the keys of annotations.
type source struct {
	t     *testing.T
	files map[string][]*ast.File // by import path
}

func newSource(t *testing.T) *source { return &source{t, map[string][]*ast.File{}} }

// of parses a package, without its tests.
func (s *source) of(path string) []*ast.File {
	if out, ok := s.files[path]; ok {
		return out
	}
	listed, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	dir := strings.TrimSpace(string(listed))
	all, err := os.ReadDir(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []*ast.File
	for _, f := range all {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f.Name()), nil, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, file)
	}
	s.files[path] = out
	return out
}

// enum lists the constants of a named string type, in upstream's order.
func (s *source) enum(t reflect.Type) []string {
	if t.Kind() != reflect.String || !strings.Contains(t.PkgPath(), ".") {
		return nil
	}
	var out []string
	for _, f := range s.of(t.PkgPath()) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if id, ok := v.Type.(*ast.Ident); !ok || id.Name != t.Name() {
					continue
				}
				for _, e := range v.Values {
					if text, ok := literal(e); ok && text != "" {
						out = append(out, text)
					}
				}
			}
		}
	}
	return out
}

// keys lists the keys of annotations and labels in packages.
func (s *source) keys(paths ...string) []string {
	out := map[string]bool{}
	for _, path := range paths {
		for _, f := range s.of(path) {
			ast.Inspect(f, func(n ast.Node) bool {
				if text, ok := literal(n); ok && annotation.MatchString(text) {
					out[text] = true
				}
				return true
			})
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// annotation does not match versions of APIs.
var annotation = regexp.MustCompile(`^(([a-z]+\.)?projectcalico\.org|k8s\.v1\.cni\.cncf\.io)/[A-Za-z][A-Za-z0-9-]{2,}$`)

// indexed lists the keys with which a package reads a map.
func (s *source) indexed(path, name string) []string {
	out := map[string]bool{}
	for _, f := range s.of(path) {
		ast.Inspect(f, func(n ast.Node) bool {
			x, ok := n.(*ast.IndexExpr)
			if !ok {
				return true
			}
			if id, ok := x.X.(*ast.Ident); ok && id.Name == name {
				if text, ok := literal(x.Index); ok {
					out[text] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(out))
}

func literal(n ast.Node) (string, bool) {
	b, ok := n.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(b.Value)
	return text, err == nil
}

// structOf returns a struct type with a field for each key, which is its key in JSON.
func structOf(keys []string) reflect.Type {
	var out []reflect.StructField
	for i, k := range keys {
		out = append(out, reflect.StructField{
			Name: "A" + strconv.Itoa(i), Type: reflect.TypeFor[string](), Tag: reflect.StructTag("json:" + strconv.Quote(k)),
		})
	}
	return reflect.StructOf(out)
}
