// Package versions says what scenarios come to under several versions of an address
// manager. Each version is a program, which make builds of this module with that version
// in the place of the release; a scenario is run by each of them with the same seeds.
//
// What is counted is in how many runs the scenario's violations happened. Another version
// takes another course, so a run is no proof of anything, and many are an estimate: that
// nothing was seen in N runs says that the version holds only if the version that breaks
// would have shown it.
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
	Name    string // of its column
	Program string // a file
	Source  string // what it was built of: a folder or module@version; "" if it was there
	Manager string // the last element of its module's path, or the name of a manager that is a part of Kubernetes; "" of a program that was there
}

// Of reports whether v is a version of the manager of this name, whose release is
// module@version.
func (v *Version) Of(manager, release string) bool {
	return v.Manager != "" && (v.Manager == manager || strings.Contains(release, "/"+v.Manager+"@"))
}

// name is what a version may be called, as it becomes the name of a file.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// module is what a go.mod says of whose it is.
var module = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// Parse reads [NAME=]WHAT, where WHAT is the folder of a manager's source, a module at a
// version (NAME@v0.9.0, where NAME is the last element of its path, nodeipam, or services), or a program that make build FORK=… wrote. Without a NAME
// a version is called as the last element of WHAT, behind its @. dir is where programs
// that are to be built go.
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

// Build makes the programs of those that have a source. The working directory is the
// project's; all modules but the manager's keep their version. What the builds say goes
// to out.
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

// complaint is a line of the compiler's, or the last word of cmd/fork.
var complaint = regexp.MustCompile(`(?m)^\S+\.go:\d+.*|^fork: .*\nexit status.*`)

// why is what a build said of why it failed: one line.
func why(said string, err error) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(complaint.FindString(said), "fork: "), "\n")
	return cmp.Or(first, "make: "+err.Error())
}
