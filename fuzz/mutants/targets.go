package mutants

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// Targets are the packages of a module to mutate. They are listed in a file with lines of the form:
//
//	module   PATH
//	manager  NAME             in baselines and scenarios, if it differs from its folder
//	package  FOLDER [FILE…]   of the module; only these files of it
//
// Empty lines and lines that begin with # are ignored.
type Targets struct {
	Module   string
	Manager  string // "": the name of its folder
	Packages []Target
}

// Target is one package.
type Target struct {
	Folder string
	Files  []string // none: all
}

// Set is all mutants of a module.
type Set struct {
	Module  string   `json:"module"`
	Mutants []Mutant `json:"mutants"` // mutant n has index n-1
}

// ReadTargets reads the list.
func ReadTargets(file string) (*Targets, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t := &Targets{}
	for i, line := range strings.Split(string(b), "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || strings.HasPrefix(f[0], "#"):
		case len(f) == 2 && f[0] == "module" && t.Module == "":
			t.Module = f[1]
		case len(f) == 2 && f[0] == "manager" && t.Manager == "":
			t.Manager = f[1]
		case len(f) >= 2 && f[0] == "package" && t.Module != "":
			t.Packages = append(t.Packages, Target{f[1], f[2:]})
		default:
			return nil, fmt.Errorf("%s:%d: want one line module PATH, at most one manager NAME, and then package FOLDER [FILE…]", file, i+1)
		}
	}
	if len(t.Packages) == 0 {
		return nil, fmt.Errorf("%s: no package", file)
	}
	return t, nil
}

// Make creates the mutants of all packages; flags are for Load, imported is for the function Make.
func (t *Targets) Make(flags []string, imported string) ([]File, Set, error) {
	set := Set{Module: t.Module}
	var paths []string
	for _, p := range t.Packages {
		paths = append(paths, path.Join(t.Module, p.Folder))
	}
	pkgs, err := Load(paths, flags)
	if err != nil {
		return nil, set, err
	}
	var files []File
	for i, p := range pkgs {
		f, m, err := Make(p, imported, t.Packages[i].Files, len(set.Mutants)+1)
		if err != nil {
			return nil, set, err
		}
		files, set.Mutants = append(files, f...), append(set.Mutants, m...)
	}
	return files, set, nil
}
