package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Package is a package to mutate: its files and types.
type Package struct {
	Path  string // import path
	fset  *token.FileSet
	files []*ast.File
	paths []string // of the files, relative to the module
	texts [][]byte
	info  *types.Info
}

// listed is a package in the output of "go list".
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Path, Dir string }
	Error                   *struct{ Err string }
}

// Load reads packages of one module by their import paths, in the version that the module in the
// working directory uses; flags are more arguments of "go list" ("-modfile=…"). Imports
// that cannot be compiled are ignored; code that depends on their types is not mutated.
func Load(paths, flags []string) ([]*Package, error) {
	args := append([]string{"list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module,Error"}, flags...)
	c := exec.Command("go", append(append(args, "--"), paths...)...)
	c.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(out) == 0 {
		return nil, errors.New(strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil && exit == nil {
		return nil, err
	}
	all := map[string]*listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		l := &listed{}
		if err := d.Decode(l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[l.ImportPath] = l
	}
	var pkgs []*Package
	for _, path := range paths {
		l := all[path]
		switch {
		case l == nil || l.Dir == "" || len(l.GoFiles) == 0:
			return nil, fmt.Errorf("%s: no such package", path)
		case l.Module == nil:
			return nil, fmt.Errorf("%s: it is of no module", path)
		}
		p, err := l.load(all)
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
	return pkgs, nil
}

func (l *listed) load(all map[string]*listed) (*Package, error) {
	p := &Package{Path: l.ImportPath, fset: token.NewFileSet()}
	for _, name := range l.GoFiles {
		path := filepath.Join(l.Dir, name)
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(p.fset, path, src, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		inside, err := filepath.Rel(l.Module.Dir, path)
		if err != nil {
			return nil, err
		}
		p.files, p.paths, p.texts = append(p.files, f), append(p.paths, inside), append(p.texts, src)
	}
	p.check(func(path string) (io.ReadCloser, error) {
		if d := all[path]; d != nil && d.Export != "" {
			return os.Open(d.Export)
		}
		return nil, fmt.Errorf("%s: it was not compiled", path)
	})
	return p, nil
}

// check determines types. Code without a type, because an import is missing, is not mutated.
func (p *Package) check(lookup importer.Lookup) {
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(p.fset, "gc", lookup), Error: func(error) {}}
	_, _ = conf.Check(p.Path, p.fset, p.files, p.info)
}
