// Command fork prints the path of a go.mod that builds ipamsim with forks of
// address managers instead of their releases:
//
//	fork=$(go run ./cmd/fork ../whereabouts)
//	go build -modfile="$fork" -overlay="${fork%.mod}.json" ./cmd/ipamsim
//	make gate FORK=../whereabouts
//
// Each argument is the folder of a fork, whose go.mod names its module, or a
// module at another version, whereabouts@v0.9.0. The modules that it takes from its own
// folders (Calico's api) come from there, too. The clone's own go.mod stays as it is.
// Node IPAM and Services are of k8s.io/kubernetes: a folder with what the module proxy has
// of it is tried, a clone, whose other modules would come from its folder staging, is not.
// Further requirements of the fork are resolved, and reported on stderr; with -pinned, what
// ipamsim has stays as it is, so that two versions differ in nothing else and little has
// to be compiled; that is reported.
//
// Before anything is compiled, it checks that the functions of upstream that
// ipamsim calls by name (go:linkname), which no compiler checks, are still there
// and have the same signature; and that those that ipamsim transcribes because it
// cannot call them (sim/ipam/*/transcribed.txt) are unchanged. Instead
// of the packages generated from the releases (sim/ipam/*/copies.txt) the overlay beside
// the go.mod has those of the fork; with -overlay it includes another overlay.
// Where releases differ in more than functions (a package elsewhere, one that is not there
// yet) it adds our files for that shape (shape.go).
//
// Without an argument it generates the packages that the tables name from the releases
// in go.mod, below folders called upstream, which git ignores, and prints nothing. Every
// build begins with it. It stops where a package's checksum, a transcribed function, or
// the signature of a function that ipamsim calls by name (linked.txt) is not what the
// tables record; -update records the checksums and signatures of today's packages. With
// -since before.mod, another go.mod with its go.sum, it first prints what of that changed
// between the two (since.go), and -update then accepts transcribed functions, too.
//
// It exits with 2 and the reason if a folder is not a fork of a module that ipamsim
// is built with, or if ipamsim cannot be built with it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"

	"ipamsim/sim/gomod"
)

func main() {
	update := flag.Bool("update", false, "record the checksums of the generated packages")
	pinned := flag.Bool("pinned", false, "keep the versions of all other modules")
	every := flag.String("overlay", "", "the overlay of every build")
	before := flag.String("since", "", "print what changed since this `go.mod`")
	flag.Parse()
	var err error
	if *before != "" {
		err = since(*before, *update, os.Stdout)
	}
	path := ""
	if err == nil {
		path, err = run(flag.Args(), *every, *pinned, *update)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fork: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "\nfork: "))
		os.Exit(2)
	}
	if path != "" {
		fmt.Println(path)
	}
}

// run makes the go.mod for forks in the given folders, relative to the working
// directory, which is our module's, and beside it the overlay that lays their files
// over the generated ones; "" without any. every is the overlay of every build, or "";
// pinned keeps the versions of all other modules; update records checksums.
func run(dirs []string, every string, pinned, update bool) (string, error) {
	releases, err := released()
	if err != nil {
		return "", err
	}
	err = generate(releases, update)
	if len(dirs) == 0 {
		err = errors.Join(transcribed(releases), linked("sim", linkedTable, update), err)
	}
	if err != nil || len(dirs) == 0 {
		return "", err
	}
	ours, err := gomod.Read("go.mod")
	if err != nil {
		return "", err
	}
	replaced, held, forks := map[string]string{}, map[string]string{}, map[string]string{} // by module path
	for _, dir := range dirs {
		dir, err := folder(dir)
		if err != nil {
			return "", err
		}
		f, err := open(dir, ours)
		if err != nil {
			return "", err
		}
		if err := errors.Join(f.links(releases[f.path]), transcribed(map[string]string{f.path: f.dir})); err != nil {
			return "", err
		}
		forks[f.path] = f.dir
		maps.Copy(replaced, f.replaces)
		maps.Copy(held, f.held)
	}
	return modfile(ours, pinned, replaced, held, releases, func(name string) error { return lay(name, every, forks) })
}
