package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stubs is a go command that prints the requests of the Makefile and builds programs that print their names; its
// response to "run ./cmd/hermetic" is HERMETIC.
const stubs = `#!/bin/sh
case "$*" in
"run ./cmd/hermetic") eval "$HERMETIC" ;;
"run ./cmd/fork") ;;
"run ./cmd/fork "*) echo fork.mod ;;
build*)
	echo "go $*"
	while [ "$1" != -o ]; do shift; done
	mkdir -p bin && printf '#!/bin/sh\necho %s "$@"\n' "$2" >$2 && chmod +x $2 ;;
esac
`

// made is what a target of our Makefile does with such a go command.
func made(t *testing.T, dir, hermetic string, args ...string) (said string, err error) {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("SKIP: no make")
	}
	text, err := os.ReadFile("../../Makefile")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "Makefile"), text, 0o666)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go"), []byte(stubs), 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("make", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HERMETIC="+hermetic, "PATH="+dir+":"+os.Getenv("PATH"), "MAKEFLAGS=", "MAKELEVEL=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestMakeStock checks that the stock runtime is used, with a message, if the generator does not fit the installed
// Go, but not after another failure.
func TestMakeStock(t *testing.T) {
	const said = "building on the stock runtime"
	out, err := made(t, t.TempDir(), "echo hermetic: edits do not fit >&2; echo stock; exit 1", "build")
	if err != nil || !strings.Contains(out, said) || strings.Contains(out, "-overlay") || !strings.Contains(out, "go build") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = made(t, t.TempDir(), "echo no space left on device >&2; exit 1", "build")
	if err == nil || strings.Contains(out, said) || strings.Contains(out, "go build") || !strings.Contains(out, "no space left on device") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = made(t, t.TempDir(), "echo overlay.json", "build")
	if err != nil || strings.Contains(out, said) || !strings.Contains(out, "go build -overlay=overlay.json -tags=hermetic -gcflags=all=-dwarf=false") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMakeFork: a fork is gated by a program of its own, and that of the releases
// stays what it is.
func TestMakeFork(t *testing.T) {
	dir := t.TempDir()
	if out, err := made(t, dir, "echo overlay.json", "build"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before, err := os.ReadFile(dir + "/bin/ipamsim")
	if err != nil {
		t.Fatal(err)
	}
	out, err := made(t, dir, "echo overlay.json", "gate", "FORK=../whereabouts", "GATEFLAGS=--flag")
	if err != nil || !strings.Contains(out, "-modfile=fork.mod") || !strings.Contains(out, "\nbin/ipamsim-fork gate --flag\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if after, err := os.ReadFile(dir + "/bin/ipamsim"); err != nil || string(after) != string(before) {
		t.Errorf("bin/ipamsim is another one: %v", err)
	}
	if out, err := made(t, dir, "echo overlay.json", "gate"); err != nil || !strings.Contains(out, "\nbin/ipamsim gate") {
		t.Errorf("%v\n%s", err, out)
	}
}
