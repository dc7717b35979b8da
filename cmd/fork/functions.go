package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// function is one of a file's.
type function struct {
	*ast.FuncDecl
	at   string // file:line
	src  []byte
	file *ast.File
	set  *token.FileSet
}

// functions are those of a file, by their names; none if there is no file.
func functions(path string, src []byte) (map[string]function, error) {
	if src == nil {
		return nil, nil
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	out := map[string]function{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			p := set.Position(f.Pos())
			out[name(set, f)] = function{f, fmt.Sprintf("%s:%d", path, p.Line), src[p.Offset:set.Position(f.End()).Offset], file, set}
		}
	}
	return out, nil
}

// find is the function of this name in the files of a package; its at is empty if none
// has it. Of several, one for each operating system, it is Linux's.
func find(files []string, symbol string) (function, error) {
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_windows.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return function{}, err
		}
		all, err := functions(path, src)
		if f := all[symbol]; f.at != "" || err != nil {
			return f, err
		}
	}
	return function{}, nil
}

// name is a function's as the linker has it.
func name(set *token.FileSet, f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	if recv := text(set, f.Recv.List[0].Type); strings.HasPrefix(recv, "*") {
		return "(" + recv + ")." + f.Name.Name
	} else {
		return recv + "." + f.Name.Name
	}
}
