package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kubernetesModule is the module whose managers are a few of its packages.
const kubernetesModule = "k8s.io/kubernetes"

// parts are the packages of Kubernetes that are a manager, by the manager's name. Another
// release of them, nodeipam@v1.31.14, is built into the release of go.mod: kube-apiserver, the
// other controllers, and client-go stay what they are, so that two releases differ in the
// manager alone.
var parts = map[string][]string{
	"nodeipam": {"pkg/controller/nodeipam"},
	"services": {"pkg/controller/servicecidrs", "pkg/registry/core/service/allocator", "pkg/registry/core/service/ipallocator", "pkg/registry/core/service/portallocator", "pkg/registry/core/service/storage"},
}

// transplant is a folder with the module of go.mod whose packages of a manager are those of
// another release. The rest is symbolic links into the module cache.
func transplant(manager, version string) (string, error) {
	releases, err := released()
	if err != nil {
		return "", err
	}
	other, err := download(kubernetesModule, version)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(forks, "kubernetes", manager+"@"+version)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, graft(dir, releases[kubernetesModule], other, parts[manager])
}

// imports are paths of packages that older releases import, and what they are now.
var imports = strings.NewReplacer(`"sigs.k8s.io/structured-merge-diff/v4/`, `"sigs.k8s.io/structured-merge-diff/v6/`)

// renamed copies a folder. Files that import a package by an older path import it by today's.
func renamed(dir, from string) error {
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		src, err := os.ReadFile(path)
		if now := imports.Replace(string(src)); err == nil && now != string(src) {
			// A file of the module cache is read-only, and so is its copy.
			err = errors.Join(os.Remove(path), os.WriteFile(path, []byte(now), 0o666))
		}
		return err
	})
}

// graft links what base has in folder to, but for the given paths, which are copies of what
// other has.
func graft(to, base, other string, paths []string) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		var below []string
		for _, p := range paths {
			if rest, ok := strings.CutPrefix(p, name+"/"); ok {
				below = append(below, rest)
			}
		}
		switch there := filepath.Join(to, name); {
		case slices.Contains(paths, name):
			err = renamed(there, filepath.Join(other, name))
		case len(below) > 0:
			err = graft(there, filepath.Join(base, name), filepath.Join(other, name), below)
		default:
			err = os.Symlink(filepath.Join(base, name), there)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
