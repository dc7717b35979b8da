package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// modfile is what is read of a go.mod.
type modfile struct {
	Require []struct{ Path, Version string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// read reads the go.mod of a folder, or a file.
func read(dir, file string) (*modfile, error) {
	out, err := in(dir, "go", "mod", "edit", "-json", file)
	if err != nil {
		return nil, err
	}
	m := &modfile{}
	return m, json.Unmarshal([]byte(out), m)
}

// requires is the version that a go.mod asks for, "" if it does not.
func (m *modfile) requires(path string) string {
	for _, r := range m.Require {
		if r.Path == path {
			return r.Version
		}
	}
	return ""
}

// goMods are the folders of ours that have a go.mod which requires a module.
func goMods(module string) ([]string, error) {
	out, err := in("", "git", "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for file := range strings.Lines(out) {
		dir := filepath.Dir(strings.TrimSpace(file))
		m, err := read(dir, "go.mod")
		if err != nil {
			return nil, err
		}
		if m.requires(module) != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// set moves the go.mod of a folder to a module's version.
func set(dir, module, version string) error {
	m, err := read(dir, "go.mod")
	if err != nil {
		return err
	}
	upstream := &modfile{}
	if module == kubernetes {
		out, _ := goCommand("mod", "download", "-json", module+"@"+version) // the error is in what it prints
		var d struct{ GoMod, Error string }
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			return err
		} else if d.Error != "" {
			return errors.New(d.Error)
		}
		if upstream, err = read("", d.GoMod); err != nil {
			return err
		}
	}
	edits, err := m.edits(module, version, upstream)
	if err != nil {
		return err
	}
	if _, err := in(dir, "go", append([]string{"mod", "edit"}, edits...)...); err != nil {
		return err
	}
	if _, err := in(dir, "go", "mod", "tidy"); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, "go.mod"), err)
	}
	if m, err = read(dir, "go.mod"); err == nil && m.requires(module) != version {
		err = fmt.Errorf("%s: another module requires %s %s: move that one first", filepath.Join(dir, "go.mod"), module, m.requires(module))
	}
	return err
}

// edits are the arguments of go mod edit that move m to a module's version, in order of m. Kubernetes'
// staging modules, which the go.mod upstream of that version replaces by its own folders, are
// released with it, v0.37.3 with v1.37.3; one that is new and required gets a replace line as
// the others have. The modules of etcd are released together.
func (m *modfile) edits(module, version string, upstream *modfile) ([]string, error) {
	edits := []string{"-require=" + module + "@" + version}
	switch module {
	case kubernetes:
		of, ok := strings.CutPrefix(version, "v1.")
		if !ok {
			return nil, fmt.Errorf("%s@%s: want v1.MINOR.PATCH", module, version)
		}
		of = "@v0." + of
		have := map[string]bool{}
		for _, r := range m.Replace {
			if have[r.Old.Path] = true; upstream.staged(r.Old.Path) {
				edits = append(edits, "-replace="+r.Old.Path+"="+r.New.Path+of)
			}
		}
		for _, r := range upstream.Require {
			if upstream.staged(r.Path) && !have[r.Path] {
				edits = append(edits, "-replace="+r.Path+"="+r.Path+of)
			}
		}
		for _, r := range m.Require {
			if upstream.staged(r.Path) && have[r.Path] {
				edits = append(edits, "-require="+r.Path+of)
			}
		}
	case "go.etcd.io/etcd/server/v3":
		for _, r := range m.Require {
			if strings.HasPrefix(r.Path, "go.etcd.io/etcd/") && r.Path != module && r.Version == m.requires(module) {
				edits = append(edits, "-require="+r.Path+"@"+version)
			}
		}
	}
	return edits, nil
}

// staged reports whether a go.mod replaces a module by a folder of Kubernetes' staging area.
func (m *modfile) staged(path string) bool {
	for _, r := range m.Replace {
		if r.Old.Path == path {
			return strings.HasPrefix(r.New.Path, "./staging/")
		}
	}
	return false
}

// kubernetes is the module whose staging modules move with it.
const kubernetes = "k8s.io/kubernetes"
