// Package overlay makes the installed Go runtime a function of a seed: it writes an overlay for the
// go command.
//
//	go test -overlay="$(go run ./cmd/hermetic)" -tags hermetic ./...
//
// On the stock runtime several goroutines of one process never repeat: map iteration, select,
// timers that are due at the same time, the order of goroutines, sync.Pool. The overlay edits
// copies of some twenty files of GOROOT/src, found by anchor text, and adds those of folder
// runtime, so that inside a synctest bubble all of these repeat with the seed and vary with it.
// Outside a bubble Go is unchanged, except for constant hash seeds and maps that iterate in the
// order in which keys were added if their hashes depend on addresses. Package
// ipamsim/sim/hermetic gives access to it.
package overlay

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Path writes the overlay for the installed Go and returns the path of its overlay.json: in the
// user's cache directory, or in a new temporary directory if there is none. It does not overwrite
// existing files.
//
// The error wraps ErrMisfit, and names every edit whose anchor is missing, if the installed Go has
// changed in those places: the program can then be built on the stock runtime.
func Path() (string, error) {
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
