// Command hermetic prints the path of an overlay that makes the installed Go
// runtime a function of a seed:
//
//	go test -overlay="$(go run ./cmd/hermetic)" -tags hermetic ./...
//
// On the stock runtime several goroutines of one process never repeat: map
// iteration, select, timers that are due together, who runs next, sync.Pool.
// The overlay edits copies of some twenty files of GOROOT/src, found by
// anchor text, and adds those of folder runtime, so that inside a synctest bubble all
// of these repeat with the seed and vary with it. Outside a bubble Go stays as it
// is, but for constant hash seeds and maps that iterate in the order of their keys'
// insertion where their hashes depend on addresses. Package ipamsim/sim/hermetic is
// the way in.
//
// The files go to the user's cache directory, or to a new directory under
// the one for temporary files if there is none.
//
// If the installed Go has changed in those places, it names every edit whose anchor
// is not there, prints "stock" in the place of the path, and exits with 1: the stock
// runtime may be built on instead. Of any other failure it prints the reason only.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	path, err := run()
	if err != nil {
		if errors.Is(err, errMisfit) {
			fmt.Println("stock")
		}
		fmt.Fprintf(os.Stderr, "hermetic: %s\n", strings.ReplaceAll(err.Error(), "\ngo", "\nhermetic: go"))
		os.Exit(1)
	}
	fmt.Println(path)
}

func run() (string, error) {
	src, version, err := installed()
	if err != nil {
		return "", err
	}
	text, err := generate(src, version, edits())
	if err != nil {
		return "", err
	}
	if cache, err := os.UserCacheDir(); err == nil {
		if path, err := write(filepath.Join(cache, "ipamsim", "hermetic"), src, version, text); err == nil {
			return path, nil
		}
	}
	private, err := os.MkdirTemp("", "ipamsim-hermetic-")
	if err != nil {
		return "", err
	}
	return write(private, src, version, text)
}

// installed returns GOROOT/src and the version of the go command in use.
func installed() (src, version string, err error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	root, version, ok := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if !ok {
		return "", "", fmt.Errorf("go env: unexpected output %q", out)
	}
	return filepath.Join(root, "src"), strings.TrimSpace(version), nil
}
