package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// generate writes what all tables name from the releases of go.mod into folders that git
// ignores, so that the go command and editors see ordinary packages. Before it writes a
// table's packages it compares each with its checksum; with update it writes the new
// checksums into the tables instead.
func generate(released map[string]string, update bool) error {
	all, err := allCopies()
	if err != nil {
		return err
	}
	var moved []error
	for _, c := range all {
		made, err := c.make(released)
		if err != nil {
			return err
		}
		if update {
			err = c.writeSums(made)
		} else {
			err = c.checkSums(made)
		}
		if moved = append(moved, err); err != nil {
			continue // what was generated before stays, to be compared with
		}
		if err := c.install(made); err != nil {
			return err
		}
	}
	return errors.Join(moved...)
}

// install makes the folders hold these files and no others.
func (c copies) install(made map[string][]byte) error {
	have, err := c.present()
	if err != nil {
		return err
	}
	for path := range have {
		if made[path] == nil {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	maps.DeleteFunc(made, func(path string, text []byte) bool { return bytes.Equal(have[path], text) })
	return writeAll(made, "")
}

// writeAll writes files below a folder. A concurrent build sees either the old or the new text of
// each.
func writeAll(files map[string][]byte, under string) error {
	for path, text := range files {
		path = filepath.Join(under, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		f, err := os.CreateTemp(filepath.Dir(path), ".*")
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err != nil {
			return errors.Join(err, os.Remove(f.Name()))
		}
	}
	return nil
}

// present are the generated files that are there now.
func (c copies) present() (map[string][]byte, error) {
	var paths []string
	for _, e := range c.entries {
		pattern := e.ours
		if c.folders[e.theirs] == e.ours {
			pattern = filepath.Join(e.ours, "*.go")
		}
		there, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		paths = append(paths, there...)
	}
	have := map[string][]byte{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		have[path] = b
	}
	return have, nil
}

// moved compares what is generated with what another version of the module gives: the
// files that differ, nil for one that is gone, and which functions of each differ.
func (c copies) moved(made map[string][]byte) (files map[string][]byte, which []error, err error) {
	have, err := c.present()
	if err != nil {
		return nil, nil, err
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

// sum is the checksum of what is generated from a package or a file: of the names and
// texts of its files, in the order of names.
func (c copies) sum(e entry, made map[string][]byte) string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(made)) {
		if path == e.ours || c.folders[e.theirs] == filepath.Dir(path) {
			fmt.Fprintf(h, "%s %d\n%s", filepath.Base(path), len(made[path]), made[path])
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// checkSums stops where a release gives another package than the one that the table has
// the checksum of. It names the package and, where the earlier one is still there, the
// functions that differ.
func (c copies) checkSums(made map[string][]byte) error {
	var moved []error
	for _, e := range c.entries {
		if got := c.sum(e, made); got != e.sum {
			moved = append(moved, fmt.Errorf("%s: %s has changed: its checksum is %s, not %s", e.at, e.theirs, got, e.sum))
		}
	}
	if len(moved) == 0 {
		return nil
	}
	_, which, err := c.moved(made)
	moved = append(append(moved, which...), errors.New("read what changed upstream, then accept it: go run ./cmd/fork -update"))
	return errors.Join(err, errors.Join(moved...))
}

// writeSums writes the checksums into the table.
func (c copies) writeSums(made map[string][]byte) error {
	b, err := os.ReadFile(c.table)
	if err != nil {
		return err
	}
	text := strings.Split(string(b), "\n")
	for _, e := range c.entries {
		l := &text[e.line-1]
		*l = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(*l, " "), e.sum), " ") + "  " + c.sum(e, made)
	}
	return os.WriteFile(c.table, []byte(strings.Join(text, "\n")), 0o666)
}
