package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"ipamsim/sim/gomod"
)

// goMods are the folders of ours that have a go.mod which requires a module.
func goMods(module string) ([]string, error) {
	out, err := in("", "git", "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for file := range strings.Lines(out) {
		dir := filepath.Dir(strings.TrimSpace(file))
		m, err := gomod.Read(filepath.Join(dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		if m.Requires(module) != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// set moves the go.mod of a folder to a module's version.
func set(dir, module, version string) error {
	m, err := gomod.Read(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	upstream := &gomod.File{}
	if module == kubernetes {
		goMod, err := download(module, version)
		if err != nil {
			return err
		}
		if upstream, err = gomod.Read(goMod); err != nil {
			return err
		}
	}
	args, err := edits(m, module, version, upstream)
	if err != nil {
		return err
	}
	if _, err := in(dir, "go", append([]string{"mod", "edit"}, args...)...); err != nil {
		return err
	}
	if _, err := in(dir, "go", "mod", "tidy"); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, "go.mod"), err)
	}
	if m, err = gomod.Read(filepath.Join(dir, "go.mod")); err == nil && m.Requires(module) != version {
		err = fmt.Errorf("%s: another module requires %s %s: move that one first", filepath.Join(dir, "go.mod"), module, m.Requires(module))
	}
	return err
}

// edits are the arguments of go mod edit that move a go.mod to a module's version, in its order. Kubernetes'
// staging modules, which the go.mod upstream of that version replaces by its own folders, are
// released with it, v0.37.3 with v1.37.3; one that is new and required gets a replace line as
// the others have. The modules of etcd are released together.
func edits(m *gomod.File, module, version string, upstream *gomod.File) ([]string, error) {
	args := []string{"-require=" + module + "@" + version}
	switch module {
	case kubernetes:
		of, ok := strings.CutPrefix(version, "v1.")
		if !ok {
			return nil, fmt.Errorf("%s@%s: want v1.MINOR.PATCH", module, version)
		}
		of = "@v0." + of
		have := map[string]bool{}
		for _, r := range m.Replace {
			if have[r.Old.Path] = true; staged(upstream, r.Old.Path) {
				args = append(args, "-replace="+r.Old.Path+"="+r.New.Path+of)
			}
		}
		for _, r := range upstream.Require {
			if staged(upstream, r.Path) && !have[r.Path] {
				args = append(args, "-replace="+r.Path+"="+r.Path+of)
			}
		}
		for _, r := range m.Require {
			if staged(upstream, r.Path) && have[r.Path] {
				args = append(args, "-require="+r.Path+of)
			}
		}
	case "go.etcd.io/etcd/server/v3":
		for _, r := range m.Require {
			if strings.HasPrefix(r.Path, "go.etcd.io/etcd/") && r.Path != module && r.Version == m.Requires(module) {
				args = append(args, "-require="+r.Path+"@"+version)
			}
		}
	}
	return args, nil
}

// staged reports whether a go.mod replaces a module by a folder of Kubernetes' staging area.
func staged(m *gomod.File, path string) bool {
	by, _ := m.Replaced(path)
	return strings.HasPrefix(by.Path, "./staging/")
}

// kubernetes is the module whose staging modules move with it.
const kubernetes = "k8s.io/kubernetes"
