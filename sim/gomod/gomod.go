// Package gomod reads go.mod files as the go command does.
package gomod

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// File is the part of a go.mod that is read, in its order.
type File struct {
	Module  struct{ Path string }
	Go      string
	Require []Version
	Replace []struct{ Old, New Version }
}

// Version is a module at a version, or, without one, a module at any version or a folder.
type Version struct{ Path, Version string }

// String is v in the format of go.mod.
func (v Version) String() string {
	if v.Version == "" {
		return v.Path
	}
	return v.Path + " " + v.Version
}

// Read reads a go.mod. The error is that of the go command.
func Read(file string) (*File, error) {
	c := exec.Command("go", "mod", "edit", "-json", file)
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, err
	}
	f := &File{}
	if err := json.Unmarshal(out, f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}

// Requires is the version that f asks for of a module, "" if it does not.
func (f *File) Requires(path string) string {
	for _, r := range f.Require {
		if r.Path == path {
			return r.Version
		}
	}
	return ""
}

// Replaced is what f has in the place of a module at some version; ok is false if it has
// nothing.
func (f *File) Replaced(path string) (by Version, ok bool) {
	for _, r := range f.Replace {
		if r.Old.Path == path {
			return r.New, true
		}
	}
	return Version{}, false
}
