package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// write makes the copies anew.
func (c copies) write(dirs map[string]string) error {
	made, err := c.make(dirs)
	if err != nil {
		return err
	}
	for _, folder := range c.folders {
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	return writeAll(made, "")
}

func writeAll(files map[string][]byte, under string) error {
	for path, text := range files {
		path = filepath.Join(under, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// moved compares the copies in these modules with what they would be now: the files
// that are others, nil for one that is no more, and which functions of each differ.
func (c copies) moved(dirs map[string]string) (files map[string][]byte, which []error, err error) {
	made, err := c.make(dirs)
	if err != nil {
		return nil, nil, err
	}
	have := map[string][]byte{}
	if dirs[c.module] != "" {
		for path := range c.files {
			if have[path], err = os.ReadFile(path); err != nil {
				return nil, nil, err
			}
		}
	}
	for pkg, folder := range c.folders {
		for path := range dirs {
			if !strings.HasPrefix(pkg, path+"/") {
				continue
			}
			there, err := filepath.Glob(filepath.Join(folder, "*.go"))
			if err != nil {
				return nil, nil, err
			}
			for _, f := range there {
				if have[f], err = os.ReadFile(f); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	all := maps.Clone(have)
	maps.Copy(all, made)
	files = map[string][]byte{}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if bytes.Equal(have[path], made[path]) {
			continue
		}
		files[path] = made[path]
		if filepath.Ext(path) != ".go" {
			which = append(which, errors.New(path))
			continue
		}
		names, err := differ(have[path], made[path])
		if err != nil {
			return nil, nil, err
		}
		which = append(which, fmt.Errorf("%s: %s", path, names))
	}
	return files, which, nil
}

// differ names the functions in which two versions of a file differ.
func differ(a, b []byte) (string, error) {
	one, err := functions("", a)
	if err != nil {
		return "", err
	}
	two, err := functions("", b)
	if err != nil {
		return "", err
	}
	var names []string
	for name := range two {
		if tokens(one[name].src) != tokens(two[name].src) {
			names = append(names, name)
		}
	}
	for name := range one {
		if two[name].at == "" {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) == 0 {
		return "something outside of functions", nil
	}
	return strings.Join(names, ", "), nil
}

// unmoved stops where a copy is not what upstream has in the releases of go.mod, by
// the names of the functions that are others.
func unmoved(released map[string]string) error {
	all, err := allCopies()
	if err != nil {
		return err
	}
	var moved []error
	for _, c := range all {
		_, which, err := c.moved(released)
		if err != nil {
			return err
		}
		moved = append(moved, which...)
	}
	if len(moved) > 0 {
		return fmt.Errorf("copies are not what upstream has (go run ./cmd/fork -copy makes them anew; read the diff):\n%w", errors.Join(moved...))
	}
	return nil
}

// copyAll makes all copies anew from the releases of go.mod.
func copyAll() error {
	released, err := released()
	if err != nil {
		return err
	}
	all, err := allCopies()
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := c.write(released); err != nil {
			return err
		}
	}
	return nil
}
