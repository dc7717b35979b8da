// Command fork prints the path of a go.mod that builds ipamsim with forks of
// address managers in place of their releases:
//
//	go build -modfile="$(go run ./cmd/fork ../whereabouts)" ./cmd/ipamsim
//	make gate FORK=../whereabouts
//
// Each argument is the folder of a fork; its go.mod says which module it is. The
// modules that it takes from its own folders (Calico's api) come from there, too.
// The clone's own go.mod stays as it is. What the fork asks for beyond it is
// looked up, and said on stderr.
//
// Before anything is compiled, it looks whether the functions of upstream that
// ipamsim calls by name (go:linkname), which no compiler checks, are still there
// and take what they took.
//
// It exits with 2 and says why if a folder is no fork of a module that ipamsim
// is built with, or if ipamsim cannot be built with it.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	path, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "fork: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "\nfork: "))
		os.Exit(2)
	}
	fmt.Println(path)
}

// run makes the go.mod for forks in the given folders, relative to the working
// directory, which is our module's.
func run(dirs []string) (string, error) {
	if len(dirs) == 0 {
		return "", fmt.Errorf("want the folders of one or more forks")
	}
	ours, err := readModule("go.mod")
	if err != nil {
		return "", err
	}
	replaced := map[string]string{} // module path to folder
	for _, dir := range dirs {
		f, err := open(dir, ours)
		if err != nil {
			return "", err
		}
		if err := f.links(); err != nil {
			return "", err
		}
		for path, dir := range f.replaces {
			replaced[path] = dir
		}
	}
	return modfile(ours, replaced)
}
