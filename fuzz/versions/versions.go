// Package versions compares scenarios under several versions of an address manager. Each version is a
// program: make builds this module with that version instead of the release. Each program runs
// a scenario with the same seeds.
//
// The result is the number of runs with one of the scenario's violations. The same seed takes another
// course in another version, so a single run proves nothing and many are an estimate: a
// version without violations in N runs holds only if the version that breaks would have shown
// one.
package versions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Version is one version of an address manager, as a program.
type Version struct {
	Name    string // the head of its column
	Program string // file
	Source  string // a folder or module@version; "" if the program was given
	Manager string // the last element of its module's path, or the name of a manager in Kubernetes; "" if the program was given
}

// Of reports whether v is a version of the manager with this name, whose release is module@version.
func (v *Version) Of(manager, release string) bool {
	return v.Manager != "" && (v.Manager == manager || strings.Contains(release, "/"+v.Manager+"@"))
}

// name is the form of a version's name, which is also the name of a file.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// module finds the module path in a go.mod.
var module = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// Parse parses [NAME=]WHAT. WHAT is the folder of a manager's source; a module at a version
// (NAME@v0.9.0, where NAME is the last element of its path, nodeipam, or services); or a program
// that make build FORK=… wrote. The default NAME is the last element of WHAT, after its @. dir is
// the directory for programs that have to be built.
func Parse(text, dir string) (Version, error) {
	called, what, found := strings.Cut(text, "=")
	if !found {
		called, what = "", text
	}
	if what == "" {
		return Version{}, fmt.Errorf("%q: want [NAME=]FOLDER, [NAME=]MODULE@VERSION or [NAME=]PROGRAM", text)
	}
	if called == "" {
		called = filepath.Base(what)
		if i := strings.LastIndexByte(called, '@'); i >= 0 {
			called = called[i+1:]
		}
	}
	if !name.MatchString(called) {
		return Version{}, fmt.Errorf("%q: the name %q is none for a file; give it another one, NAME=%s", text, called, what)
	}
	v := Version{Name: called}
	info, err := os.Stat(what)
	switch {
	case err == nil && !info.IsDir():
		v.Program = what
	case err == nil:
		v.Source = what
		text, err := os.ReadFile(filepath.Join(what, "go.mod"))
		if err != nil {
			return Version{}, err
		}
		if m := module.FindSubmatch(text); m != nil {
			v.Manager = path.Base(string(m[1]))
		}
	case strings.Contains(filepath.Base(what), "@"):
		v.Source = what
		v.Manager, _, _ = strings.Cut(filepath.Base(what), "@")
	default:
		return Version{}, err
	}
	if v.Program == "" {
		v.Program = filepath.Join(dir, v.Manager+"-"+called)
	}
	return v, nil
}

// Build builds the program of a version that has a source. The working directory is the project; all
// modules but the manager's keep their version. The output of the build goes to out.
func Build(ctx context.Context, out io.Writer, v Version) error {
	if v.Source == "" {
		return nil
	}
	if strings.ContainsAny(v.Source, " \t\n") {
		return fmt.Errorf("%s: make cannot name a folder with white space in its path", v.Source)
	}
	if _, err := os.Stat("Makefile"); err != nil {
		return errors.New("versions are built in the project's directory, where its Makefile is; or name programs that are built")
	}
	c := exec.CommandContext(ctx, "make", "--no-print-directory", "build", "PINNED=1", "FORK="+v.Source, "BIN="+v.Program)
	var said bytes.Buffer
	c.Stdout, c.Stderr = out, io.MultiWriter(out, &said)
	c.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s cannot be built of %s: %s", v.Name, v.Source, why(said.String(), err))
	}
	return nil
}

// complaint is an error line of the compiler, or the last line of cmd/fork.
var complaint = regexp.MustCompile(`(?m)^\S+\.go:\d+.*|^fork: .*\nexit status.*`)

// why returns the reason for a failed build, as one line.
func why(said string, err error) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(complaint.FindString(said), "fork: "), "\n")
	return cmp.Or(first, "make: "+err.Error())
}
