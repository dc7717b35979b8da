package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// copies are the packages of a module that are generated from its source, because they
// cannot be imported: they touch the machine, are internal, or are a package main. Only
// the imports differ, and the name of a package main, which is that of its folder.
//
// They stand in the file copies.txt in the folder of the address manager. Its lines
// are:
//
//	module  PATH                 of the packages: what a fork can be of
//	copy  FOLDER  PACKAGE  SUM   the folder, beside the table, that a package is generated in
//	adapter  IMPORT  IMPORT      an import of the packages, and its replacement
//	file  FILE  FILE  SUM        beside the table, and in the module: copied byte for byte
//	elsewhere  PATH  PATH        packages under the first lie under the second in a fork without the first
//	lacks  TAG  PACKAGE          a fork without it is built with our files of this build tag
//	follows  MODULE              no other module of ours uses it: the fork's version is the right one
//
// SUM is the checksum of what is generated from the release in go.mod. A generated
// package imports other generated packages in the place of the originals. What the last
// three lines are for is in shape.go.
type copies struct {
	table     string
	module    string
	entries   []entry
	folders   map[string]string // by package of upstream's: ours, relative to the working directory
	imports   map[string]string
	files     map[string]string // by file of ours, relative to the working directory: upstream's, to the module
	elsewhere map[string]string
	lacks     map[string]string // by package: the tag
	follows   []string
}

// entry is a line of a table: a generated file or package and its source.
type entry struct {
	at           string // file:line
	line         int    // from 1
	ours, theirs string // the folder or file, relative to the working directory; the package or file
	sum          string // "" in a new line
}

// allCopies reads all tables.
func allCopies() ([]copies, error) {
	all, err := lines("copies.txt")
	if err != nil {
		return nil, err
	}
	var out []copies
	for _, l := range all {
		if len(out) == 0 || out[len(out)-1].table != l.table {
			out = append(out, copies{l.table, "", nil, map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, nil})
		}
		c := &out[len(out)-1]
		switch f := l.fields; {
		case len(f) == 2 && f[0] == "module":
			c.module = f[1]
		case (len(f) == 3 || len(f) == 4) && (f[0] == "copy" || f[0] == "file"):
			c.add(l)
		case len(f) == 3 && f[0] == "adapter":
			c.imports[f[1]] = f[2]
		case len(f) == 3 && f[0] == "elsewhere":
			c.elsewhere[f[1]] = f[2]
		case len(f) == 3 && f[0] == "lacks":
			c.lacks[f[2]] = f[1]
		case len(f) == 2 && f[0] == "follows":
			c.follows = append(c.follows, f[1])
		default:
			return nil, fmt.Errorf("%s: want module PATH, copy FOLDER PACKAGE SUM, adapter IMPORT IMPORT, file FILE FILE SUM, elsewhere PATH PATH, lacks TAG PACKAGE or follows MODULE", l.at)
		}
	}
	return out, nil
}

// add a line "copy" or "file".
func (c *copies) add(l line) {
	e := entry{at: l.at, line: l.number, ours: filepath.Join(filepath.Dir(l.table), l.fields[1]), theirs: l.fields[2]}
	if len(l.fields) == 4 {
		e.sum = l.fields[3]
	}
	c.entries = append(c.entries, e)
	if l.fields[0] == "file" {
		c.files[e.ours] = e.theirs
		return
	}
	c.folders[e.theirs] = e.ours
	c.imports[e.theirs] = "ipamsim/" + filepath.ToSlash(e.ours)
}

// upstreams returns the modules that a fork can be of, in the order of their tables: those with
// generated packages. others have only copied files.
func upstreams() (forks, others []string, err error) {
	all, err := allCopies()
	for _, c := range all {
		switch {
		case c.module == "":
			return nil, nil, fmt.Errorf("%s: no line module PATH", c.table)
		case len(c.folders) > 0:
			forks = append(forks, c.module)
		default:
			others = append(others, c.module)
		}
	}
	return forks, others, err
}

// original is the package of upstream's that ours, by its import path, is a copy of; or
// it is ours.
func (c copies) original(ours string) string {
	for pkg := range c.folders {
		if c.imports[pkg] == ours {
			return pkg
		}
	}
	return ours
}

// linux is what copies are built for.
var linux = func() build.Context {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = "linux", "amd64", false
	return c
}()

// make is every generated file of a package in one of these modules, by its path. dirs
// are the folders of modules.
func (c copies) make(dirs map[string]string) (map[string][]byte, error) {
	out, err := c.verbatim(dirs[c.module])
	if err != nil {
		return nil, err
	}
	for pkg, folder := range c.folders {
		for path, dir := range dirs {
			inside, ok := strings.CutPrefix(pkg, path+"/")
			if !ok || c.lacking(pkg, dirs) {
				continue
			}
			from := filepath.Join(dir, inside)
			entries, err := os.ReadDir(from)
			if err != nil {
				return nil, fmt.Errorf("%s: no package %s, which ipamsim is built from (%s)", dir, inside, c.table)
			}
			for _, e := range entries {
				name := e.Name()
				fits, err := linux.MatchFile(from, name)
				if err != nil || !fits || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
					continue
				}
				src, err := os.ReadFile(filepath.Join(from, name))
				if err != nil {
					return nil, err
				}
				// A simulated host runs Linux wherever it is simulated.
				name = strings.Replace(name, "_linux.go", "linux.go", 1)
				if out[filepath.Join(folder, name)], err = c.text(pkg, filepath.Base(folder), filepath.Join(from, e.Name()), src); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// platform are packages of Go's own by which a program touches its machine: a generated
// package imports none of them, or an adapter instead.
var platform = []string{"flag", "net/http", "os", "os/exec", "os/signal", "os/user", "plugin", "runtime", "runtime/debug", "syscall"}

// generated begins a generated file.
const generated = `// Code generated by cmd/fork `

// text renders a file of upstream as we compile it: its imports are replaced, package main gets the name of its
// folder, an import comment is removed, and the first line marks it as generated. Nothing else changes except
// the order of imports, which is gofmt's; stack traces have the lines of the original.
func (c copies) text(pkg, folder, path string, src []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	called, others := file.Name.Name, "only imports are others"
	if called == "main" {
		called, others = folder, "only imports and the package's name are others"
	}
	fmt.Fprintf(&out, generated+"from %s/%s: %s. DO NOT EDIT.\n\n", pkg, filepath.Base(path), others)
	out.Write(src[:set.Position(file.Name.Pos()).Offset])
	out.WriteString(called)
	end := set.Position(file.Name.End())
	fmt.Fprintf(&out, "\n\n//line %s/%s:%d", pkg, filepath.Base(path), end.Line+1)
	done := end.Offset + len(importComment.Find(src[end.Offset:]))
	for _, spec := range file.Imports {
		is, _ := strconv.Unquote(spec.Path.Value) // the parser has read it
		adapter := c.imports[c.known(is)]
		if adapter == "" && slices.Contains(platform, is) {
			return nil, fmt.Errorf("%s: it imports %s, for which there is no adapter (%s)", set.Position(spec.Pos()), is, c.table)
		}
		if adapter == "" {
			continue
		}
		at := set.Position(spec.Path.Pos()).Offset
		out.Write(src[done:at])
		out.WriteString(named(spec, is, adapter) + strconv.Quote(adapter))
		done = at + len(spec.Path.Value)
	}
	out.Write(src[done:])
	return format.Source(out.Bytes())
}

// named keeps the name by which a file knows an import whose folder is called
// otherwise now.
func named(spec *ast.ImportSpec, is, adapter string) string {
	is = majorVersion.ReplaceAllString(is, "")
	// A repository go-filemutex holds package filemutex.
	if name := strings.TrimPrefix(is[strings.LastIndexByte(is, '/')+1:], "go-"); spec.Name == nil && !strings.HasSuffix(adapter, "/"+name) {
		return name + " "
	}
	return ""
}

// importComment binds a package to one path, behind its name: a copy has another.
var importComment = regexp.MustCompile(`^[ \t]*// import "[^"\n]*"`)

// majorVersion ends the path of a module and is no part of a package's name.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)
