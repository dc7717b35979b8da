package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/util/version"
)

// modules are upstream's, in the order of the list. One may tag no Go
// modules: the proxy lists no release of it, and go.mod names a commit.
var modules = strings.Fields(moduleList)

//go:embed modules.txt
var moduleList string

// release is a module that could be moved.
type release struct {
	module, here  string
	patch, newest string // the newest of the minor release that is here, and of all; "": none is newer
	refused       string // what the proxy answered for the newer ones that it lists and does not serve
}

// list writes a table of modules, or with brief the newer releases alone.
func list(w io.Writer, brief bool) error {
	all, err := releases()
	if err != nil {
		return err
	}
	if brief {
		for _, r := range all {
			for _, v := range slices.Compact([]string{r.patch, r.newest}) {
				if v != "" {
					fmt.Fprintf(w, "%s@%s\n", r.module, v)
				}
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "module\there\tnewer patch release\tnewest\t")
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.module, r.here, orDash(r.patch), orDash(r.newest), r.refused)
	}
	return t.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// releases asks the proxy what it lists, and downloads what is newer: it lists releases that it
// does not serve.
func releases() ([]release, error) {
	out, err := goCommand("list", append([]string{"-m", "-versions", "-json=Path,Version,Versions"}, modules...)...)
	if err != nil {
		return nil, err
	}
	var all []release
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var m struct {
			Path, Version string
			Versions      []string
		}
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		r := release{module: m.Path, here: m.Version}
		if len(m.Versions) == 0 {
			r.refused = "the proxy lists no releases"
		}
		r.patch, r.newest = newer(m.Version, m.Versions)
		for _, v := range []*string{&r.patch, &r.newest} {
			if *v == "" {
				continue
			}
			if _, err := download(m.Path, *v); err != nil {
				r.refused, *v = *v+" is listed but not served: "+err.Error(), ""
			}
		}
		all = append(all, r)
	}
}

// newer are the newest release with the major and minor version of the one that is here, and
// the newest of all; "" where that is the one that is here.
func newer(here string, versions []string) (patch, newest string) {
	at, err := version.ParseSemantic(here)
	if err != nil || strings.Contains(here, "-") {
		return "", "" // a commit
	}
	best, all := at, at
	for _, s := range versions {
		v, err := version.ParseSemantic(s)
		if err != nil || v.PreRelease() != "" {
			continue
		}
		if v.Major() == at.Major() && v.Minor() == at.Minor() && best.LessThan(v) {
			best, patch = v, s
		}
		if all.LessThan(v) {
			all, newest = v, s
		}
	}
	return patch, newest
}

// download loads a module, and returns its go.mod. The error is the last line of the go command's.
func download(module, version string) (goMod string, err error) {
	out, _ := goCommand("mod", "download", "-json", module+"@"+version) // the error is in what it prints
	var m struct{ GoMod, Error string }
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		return "", err
	}
	if m.Error != "" {
		lines := strings.Split(strings.TrimSpace(m.Error), "\n")
		return "", errors.New(strings.TrimSpace(lines[len(lines)-1]))
	}
	return m.GoMod, nil
}

// goCommand runs the go command. What it says on stderr is the error.
func goCommand(name string, args ...string) (string, error) {
	return in("", "go", append([]string{name}, args...)...)
}

// in runs a program in a folder. What it says on stderr is the error.
func in(dir, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off")
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
