package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ipamsim/sim/gomod"
)

// errDiffers: the branch was made, and something behaves differently or does not build.
var errDiffers = errors.New("read bin/upstream/report.md")

// folder is where a move writes its report, and go.mod as it was before. Git ignores it.
const folder = "bin/upstream"

// report is what has to be read, in Markdown.
type report struct{ bytes.Buffer }

func (r *report) heading(format string, a ...any) { fmt.Fprintf(r, "\n## "+format+"\n\n", a...) }

// fenced is text as it is, at most its last lines.
func (r *report) fenced(text string, most int) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > most {
		fmt.Fprintf(r, "The last %d of %d lines:\n\n", most, len(lines))
		lines = lines[len(lines)-most:]
	}
	fmt.Fprintf(r, "```\n%s\n```\n", strings.Join(lines, "\n"))
}

// move moves the repository to module@version on a new branch, and prints the report.
func move(to string) error {
	module, version, ok := strings.Cut(to, "@")
	if !ok || !slices.Contains(modules, module) {
		return fmt.Errorf("want module@version of one of %s; have %q", strings.Join(modules, ", "), to)
	}
	if out, err := in("", "git", "status", "--porcelain"); err != nil || out != "" {
		return errors.Join(err, fmt.Errorf("want a clean checkout; git status:\n%s", out))
	}
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return err
	}
	before := map[string]string{"go.mod": "before.mod", "go.sum": "before.sum"}
	for from, to := range before {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, to), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	was, err := gomod.Read("go.mod")
	if err != nil {
		return err
	}
	if was.Requires(module) == version {
		return fmt.Errorf("go.mod requires %s already", to)
	}
	branch := "upstream/" + path.Base(strings.TrimSuffix(module, "/v3")) + "-" + version
	if _, err := in("", "git", "switch", "-c", branch); err != nil {
		return err
	}
	r := &report{}
	fmt.Fprintf(r, "# %s %s → %s\n\nBranch `%s`.\n", module, was.Requires(module), version, branch)
	err = steps(r, module, was.Requires(module), version)
	fmt.Print(r.String())
	return errors.Join(os.WriteFile(filepath.Join(folder, "report.md"), r.Bytes(), 0o644), err)
}

// steps are those of a move, in order; the first that fails is the last one.
func steps(r *report, module, from, to string) error {
	// go mod tidy looks at the generated packages, too, which a new clone does not have.
	if _, err := in("", "go", "run", "./cmd/fork"); err != nil {
		return err
	}
	say("versions of go.mod")
	dirs, err := goMods(module)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := set(dir, module, to); err != nil {
			return err
		}
	}
	if err := versionsMoved(r); err != nil {
		return err
	}

	say("upstream's source, compared")
	r.heading("Changes in upstream code that ipamsim uses")
	at := r.Len()
	changes, err := in("", "go", "run", "./cmd/fork", "-since", filepath.Join(folder, "before.mod"), "-update")
	fmt.Fprint(r, changes)
	if err != nil {
		r.heading("Where it stops")
		r.fenced(err.Error(), 60)
		return errors.Join(errDiffers, commit("deps: "+module+" "+to+", unfinished"))
	}
	if r.Len() == at {
		fmt.Fprintln(r, "Nothing.")
	}
	if err := commit("deps: " + module + " " + to); err != nil {
		return err
	}

	return behaviour(r, module, from, to)
}

// behaviour builds, compares the library with its baseline, and rewrites the goldens.
func behaviour(r *report, module, from, to string) error {
	say("make build (minutes: all of upstream is compiled)")
	if out, err := run("make", "build"); err != nil {
		r.heading("It does not build")
		r.fenced(out, 60)
		return errDiffers
	}
	say("make gate")
	markdown := filepath.Join(folder, "gate.md")
	out, gate := run("make", "gate", "GATEFLAGS=--markdown "+markdown)
	r.heading("The library, compared with scenarios/baseline.json")
	if b, err := os.ReadFile(markdown); err == nil {
		fmt.Fprintf(r, "%s\n", b)
	} else {
		r.fenced(out, 60)
	}
	say("make golden")
	out, golden := run("make", "golden")
	if golden != nil {
		r.heading("make golden failed")
		r.fenced(out, 60)
	}
	stat, err := in("", "git", "diff", "--stat=120")
	if err != nil {
		return err
	}
	if stat != "" {
		r.heading("Goldens")
		r.fenced(stat, 400)
	}
	if err := errors.Join(commit("goldens: "+module+" "+to), named(r, from)); err != nil {
		return err
	}
	if gate != nil || golden != nil {
		return errDiffers
	}
	return nil
}

// versionsMoved lists what differs in the list of modules.
func versionsMoved(r *report) error {
	diff, err := in("", "git", "diff", "-U0", "--", "go.mod", "*/go.mod")
	if err != nil {
		return err
	}
	r.heading("Versions")
	r.fenced(diff, 400)
	return nil
}

// named lists where the old version is named still.
func named(r *report, version string) error {
	out, err := in("", "git", "grep", "-nF", strings.TrimPrefix(version, "v"), "--", ":!*.sum", ":!*.golden", ":!scenarios/baseline.json")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // nowhere
	} else if err != nil {
		return err
	}
	var short strings.Builder
	for line := range strings.Lines(out) {
		short.WriteString(line[:min(len(line), 160)])
		if len(line) > 160 {
			short.WriteByte('\n')
		}
	}
	r.heading("Where %s is still named", version)
	r.fenced(short.String(), 400)
	return nil
}

// commit commits everything, if something changed.
func commit(message string) error {
	out, err := in("", "git", "status", "--porcelain")
	if err != nil || out == "" {
		return err
	}
	if _, err := in("", "git", "add", "-A"); err != nil {
		return err
	}
	_, err = in("", "git", "commit", "-q", "-m", message)
	return err
}

func say(what string) { fmt.Fprintf(os.Stderr, "upstream: %s\n", what) }

// run runs a program whose output is passed on as it comes, and returned.
func run(name string, args ...string) (string, error) {
	var out bytes.Buffer
	c := exec.Command(name, args...)
	c.Stdout = io.MultiWriter(&out, os.Stderr)
	c.Stderr = c.Stdout
	err := c.Run()
	return out.String(), err
}
