package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ipamsim/sim/gomod"
)

// command runs the go command that runs us, and no other: the hermetic overlay is
// made for its runtime. What it says on stderr is the error.
func command(args ...string) ([]byte, error) { return commandWith(nil, args...) }

// commandWith runs it with more in its environment.
func commandWith(env []string, args ...string) ([]byte, error) {
	version, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOVERSION: %w", err)
	}
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "GOTOOLCHAIN="+strings.Fields(string(version))[0], "GOFLAGS=", "GOWORK=off")
	c.Env = append(c.Env, env...)
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return out, errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}

// fork is a folder with another version of a module that we are built with.
type fork struct {
	path     string            // of the module
	dir      string            // as it was given
	replaces map[string]string // modules that come from the fork: path to folder
	held     map[string]string // modules that stay at one version: path to path@version
}

// open looks at a folder, and refuses what can be no fork.
func open(dir string, ours *gomod.File) (*fork, error) {
	file := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; want the folder of a fork", file)
	} else if err != nil {
		return nil, err
	}
	m, err := gomod.Read(file)
	if err != nil {
		return nil, err
	}
	all, _, err := upstreams()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(all, m.Module.Path) {
		return nil, fmt.Errorf("%s: module %q; want a fork of an address manager that ipamsim runs: %s", file, m.Module.Path, strings.Join(all, " or "))
	}
	f := &fork{path: m.Module.Path, dir: dir, replaces: map[string]string{}, held: map[string]string{}}
	if f.replaces[f.path], err = local(dir); err != nil {
		return nil, err
	}
	for _, r := range m.Replace {
		if r.New.Version != "" {
			f.hold(r.Old.Path, r.New, ours)
		}
		if r.New.Version != "" || filepath.IsAbs(r.New.Path) || ours.Requires(r.Old.Path) == "" && !replaces(ours, r.Old.Path) {
			continue
		}
		nested := filepath.Join(dir, filepath.FromSlash(r.New.Path))
		if _, err := os.Stat(filepath.Join(nested, "go.mod")); err != nil {
			continue // a module's zip has no nested modules; ours stays
		}
		if f.replaces[r.Old.Path], err = local(nested); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// hold takes over that the fork has one version of a module, whatever others ask for: a
// module that ipamsim requires stays at its version, and another module in the place of one
// that it does not have is the fork's. Others may ask for a version that does not exist.
func (f *fork) hold(path string, by gomod.Version, ours *gomod.File) {
	switch version := ours.Requires(path); {
	case replaces(ours, path):
	case version != "":
		f.held[path] = path + "@" + version
	case by.Path != path:
		f.held[path] = by.Path + "@" + by.Version
	}
}

// replaces reports whether a go.mod has something in the place of a module.
func replaces(m *gomod.File, path string) bool {
	_, ok := m.Replaced(path)
	return ok
}

// local is a folder as a replace wants it: it begins with "./", "../" or "/".
func local(dir string) (string, error) {
	dir = filepath.ToSlash(filepath.Clean(dir))
	if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "../") && dir != ".." {
		dir = "./" + dir
	}
	if strings.ContainsAny(dir, "\n\r\"`") {
		return "", fmt.Errorf("%q: go.mod cannot name this folder", dir)
	}
	return dir, nil
}
