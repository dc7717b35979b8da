package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ipamsim/sim/gomod"
)

// forks is where modfile writes.
const forks = "bin/_fork"

// modfile writes a copy of our go.mod and go.sum in which folders stand for
// modules, whose releases lie in other folders, and others are held at a version, with its
// overlay beside it, lets the go command complete it with what these ask for, and returns
// its path.
//
// It lies in bin/_fork, which git ignores, under a name made of what is in it, so
// that several may be in use. What the overlay puts in the place of our copies lies
// there, too: the underscore keeps it out of ./...
func modfile(ours *gomod.File, pinned bool, replaced, held, releases map[string]string, lay func(modfile string) error) (string, error) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%d %s%d %s%t", len(mod), mod, len(sums), sums, pinned)
	follows, err := following(replaced)
	if err != nil {
		return "", err
	}
	var edits []string
	if pinned {
		edits = pins(ours, replaced, follows)
	}
	for _, path := range slices.Sorted(maps.Keys(replaced)) {
		if sums, err = addSums(sums, filepath.Join(replaced[path], "go.sum")); err != nil {
			return "", err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(held)) {
		edits = append(edits, "-replace="+path+"="+held[path])
	}
	for _, path := range slices.Sorted(maps.Keys(replaced)) {
		edits = append(edits, "-replace="+path+"="+replaced[path])
		theirs, err := os.ReadFile(filepath.Join(replaced[path], "go.mod"))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %s %d %s", path, replaced[path], len(theirs), theirs)
	}
	if err := os.MkdirAll(forks, 0o777); err != nil {
		return "", err
	}
	name := filepath.Join(forks, fmt.Sprintf("%x.mod", hash.Sum(nil)[:6]))
	if err := os.WriteFile(name, mod, 0o666); err != nil {
		return "", err
	}
	if err := os.WriteFile(strings.TrimSuffix(name, ".mod")+".sum", sums, 0o666); err != nil {
		return "", err
	}
	if _, err := command(append(append([]string{"mod", "edit"}, edits...), name)...); err != nil {
		return "", err
	}
	if err := lay(name); err != nil {
		return "", err
	}
	if !pinned { // else nothing of it is loaded
		err = lookUp(replaced, releases)
	}
	if err == nil {
		_, err = command("list", "-mod=mod", "-modfile="+name, "-overlay="+overlayFor(name), "-deps", "./cmd/ipamsim")
	}
	if err != nil {
		return "", fmt.Errorf("ipamsim cannot be built with %s:\n%w", strings.Join(slices.Sorted(maps.Values(replaced)), " and "), err)
	}
	return name, reportOthers(ours, name, pinned, follows)
}

// addSums adds to a go.sum the lines of another one for modules that it does not have: the
// checksum database does not have every module that a fork is built with.
func addSums(sums []byte, file string) ([]byte, error) {
	more, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return sums, nil
	}
	has := map[string]bool{}
	for l := range strings.Lines(string(sums)) {
		has[l[:max(0, strings.LastIndexByte(l, ' '))]] = true
	}
	for l := range strings.Lines(string(more)) {
		if !has[l[:max(0, strings.LastIndexByte(l, ' '))]] {
			sums = append(sums, l...)
		}
	}
	return sums, err
}

// following returns the modules whose version is the fork's, because nothing else uses them.
func following(replaced map[string]string) (map[string]bool, error) {
	all, err := allCopies()
	follows := map[string]bool{}
	for _, c := range all {
		for _, path := range c.follows {
			follows[path] = replaced[c.module] != ""
		}
	}
	return follows, err
}

// pins are the edits that keep the version of every module that m requires, whatever
// others ask for, but for those that follow a fork.
func pins(m *gomod.File, replaced map[string]string, follows map[string]bool) (edits []string) {
	for _, r := range m.Require {
		if replaced[r.Path] == "" && !replaces(m, r.Path) && !follows[r.Path] {
			edits = append(edits, fmt.Sprintf("-replace=%s=%s@%s", r.Path, r.Path, r.Version))
		}
	}
	return edits
}

// lookUp asks for every module that a fork requires and its release does not, so
// that the error names the one that is nowhere. The go command reads the go.mod of
// every module that anything requires before it asks for any: a cache that has only
// what ipamsim is built with would miss another one first, and it would be named.
func lookUp(replaced, releases map[string]string) error {
	all, _, err := upstreams()
	if err != nil {
		return err
	}
	var asked []string
	for _, path := range all {
		if replaced[path] == "" {
			continue
		}
		theirs, err := gomod.Read(filepath.Join(replaced[path], "go.mod"))
		if err != nil {
			return err
		}
		release, err := gomod.Read(filepath.Join(releases[path], "go.mod"))
		if err != nil {
			return err
		}
		for _, r := range theirs.Require {
			if release.Requires(r.Path) != r.Version && !replaces(theirs, r.Path) {
				asked = append(asked, r.Path+"@"+r.Version)
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	_, err = command(append([]string{"list", "-m"}, asked...)...)
	return err
}

// reportOthers prints the other modules whose version differs from ipamsim's: they may cause
// differences that the gate shows.
func reportOthers(ours *gomod.File, name string, pinned bool, follows map[string]bool) error {
	now, err := gomod.Read(name)
	if err != nil {
		return err
	}
	for _, r := range now.Require {
		if before := ours.Requires(r.Path); before == "" {
			fmt.Fprintf(os.Stderr, "fork: it brings %s %s\n", r.Path, r.Version)
		} else if before != r.Version && !replaces(ours, r.Path) {
			has := "has"
			switch {
			case pinned && follows[r.Path]:
				continue // it is the fork's
			case pinned:
				has = "keeps"
			}
			fmt.Fprintf(os.Stderr, "fork: it requires %s %s (ipamsim: %s %s)\n", r.Path, r.Version, has, before)
		}
	}
	return nil
}
