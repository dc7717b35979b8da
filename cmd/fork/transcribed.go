package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// transcription is a function of ours that does what a function of upstream's
// does, because that one cannot be called: a line of a table.
//
// A table is the file transcribed.txt in the folder of an address manager, or of what is
// Kubernetes' own. Its lines have four fields, separated by spaces:
//
//	plugin.go:(*plugin).add  github.com/…/cni-plugin/pkg/k8s  CmdAddK8s  0123456789abcdef
//
// the file and the function of ours; the package and the function of upstream's;
// the sum of that function's source, without comments and white space. Other releases
// for which ours is right, too, have their sums behind it, separated by commas, and
// "none" is a release that has no such function.
type transcription struct {
	at     string // file:line of the table
	ours   string // file:function, the file relative to the working directory
	pkg    string
	symbol string // as in link
	sums   []string
}

// none in the place of a sum: there is no such function.
const none = "none"

// transcriptions reads all tables.
func transcriptions() ([]transcription, error) {
	all, err := lines("transcribed.txt")
	if err != nil {
		return nil, err
	}
	var out []transcription
	for _, l := range all {
		f := l.fields
		if len(f) != 4 {
			return nil, fmt.Errorf("%s: %d fields; want ours, package, function, sum", l.at, len(f))
		}
		out = append(out, transcription{l.at, filepath.Join(filepath.Dir(l.table), f[0]), f[1], f[2], strings.Split(f[3], ",")})
	}
	return out, nil
}

// transcribed compares the source of every function of upstream's that one of ours
// transcribes with what it was when that was written. dirs are the folders of modules.
//
// The error names each function whose source is another now, or that is gone, on
// either side.
func transcribed(dirs map[string]string) error {
	all, err := transcriptions()
	if err != nil {
		return err
	}
	var moved []error
	for _, t := range all {
		for path, dir := range dirs {
			if inside, ok := strings.CutPrefix(t.pkg, path+"/"); ok {
				moved = append(moved, t.check(filepath.Join(dir, inside)))
			}
		}
	}
	return errors.Join(moved...)
}

func (t transcription) check(dir string) error {
	file, ours, _ := strings.Cut(t.ours, ":")
	if _, at, err := sum([]string{file}, ours); err != nil {
		return err
	} else if at == "" {
		return fmt.Errorf("%s: no function %s in %s; fix the line", t.at, ours, file)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	got, at, err := sum(files, t.symbol)
	switch {
	case err != nil:
		return err
	case at == "" && slices.Contains(t.sums, none):
		return nil
	case at == "":
		return fmt.Errorf("%s: no %s, which ipamsim transcribes (%s); check how it changed, change ours, and fix %s", dir, t.symbol, t.ours, t.at)
	case !slices.Contains(t.sums, got):
		return fmt.Errorf("%s: %s has changed, and ipamsim transcribes it (%s): compare the two, change ours, and write %s in %s", at, t.symbol, t.ours, got, t.at)
	}
	return nil
}

// sum is a function's source without comments and white space, as the first 16
// digits of its SHA-256, and where the function is; at is empty if it is nowhere.
func sum(files []string, symbol string) (sum, at string, err error) {
	f, err := find(files, symbol)
	if f.at == "" {
		return "", "", err
	}
	return digest(f.src), f.at, nil
}

// digest of source, as the tables have it.
func digest(src []byte) string {
	h := sha256.Sum256([]byte(tokens(src)))
	return fmt.Sprintf("%x", h[:8])
}

// tokens is source as the compiler reads it.
func tokens(src []byte) string {
	var out []string
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", -1, len(src)), src, nil, 0)
	for {
		switch _, tok, lit := s.Scan(); {
		case tok == token.EOF:
			return strings.Join(out, " ")
		case tok == token.SEMICOLON:
			out = append(out, ";") // written or at the end of a line
		case lit != "":
			out = append(out, lit)
		default:
			out = append(out, tok.String())
		}
	}
}

// kubernetes is transcribed as well. No fork of this module can be built in: it is one of
// many which know each other by version.
var kubernetes = []string{"k8s.io/apiserver"}

// released are the folders of the modules that ipamsim is built with.
func released() (map[string]string, error) { return releasedBy("go.mod") }

// releasedBy are those of another go.mod, which has a go.sum beside it.
func releasedBy(modfile string) (map[string]string, error) {
	var env []string
	if modfile != "go.mod" {
		env = []string{"GOFLAGS=-modfile=" + modfile}
	}
	modules, others, err := upstreams()
	if err != nil {
		return nil, err
	}
	modules = slices.Concat(modules, others, kubernetes)
	// This also brings what the module cache lacks; "list" alone would not.
	if _, err := commandWith(env, append([]string{"mod", "download"}, modules...)...); err != nil {
		return nil, err
	}
	out, err := commandWith(env, append([]string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}, modules...)...)
	if err != nil {
		return nil, err
	}
	return byPath(out), nil
}

// byPath reads lines of a path and its folder, with a tab between them.
func byPath(out []byte) map[string]string {
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		dirs[path] = dir
	}
	return dirs
}
