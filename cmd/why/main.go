// Command why finds out why a golden changed: it builds the program of an earlier commit, runs the
// scenario with it and with the program of today, and prints the first step at which they differ.
//
//	make why SCENARIO=r1-whereabouts-162
//	make why SCENARIO=r1-whereabouts-162 SINCE=HEAD~3
//
// Without SINCE the earlier commit is HEAD if the golden has changes that are not committed, and
// otherwise the parent of the last commit that changed it. Each program runs its own commit's
// scenario file.
//
// Exit: 0 the runs are equal · 1 they differ · 2 could not build or run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	scenario, since := flag.String("scenario", "", "name of a scenario in scenarios/"), flag.String("since", "", "an earlier `commit`")
	flag.Parse()
	d, err := explain(*scenario, *since)
	if err != nil {
		fmt.Fprintf(os.Stderr, "why: %v\n", err)
		os.Exit(2)
	}
	fmt.Print(d)
	if d.step != 0 {
		os.Exit(1)
	}
}

// explain runs a scenario with bin/ipamsim and with the program of an earlier commit.
func explain(scenario, since string) (d difference, err error) {
	file := "scenarios/" + scenario + ".yaml"
	if _, err := os.Stat(file); err != nil || scenario == "" {
		return d, fmt.Errorf("SCENARIO: no file %s", file)
	}
	if since, err = commit(strings.TrimSuffix(file, ".yaml")+".golden", since); err != nil {
		return d, err
	}
	dir, err := os.MkdirTemp("", "ipamsim-why-")
	if err != nil {
		return d, err
	}
	defer os.RemoveAll(dir)
	old := filepath.Join(dir, "tree")
	if _, err := run(".", "git", "worktree", "add", "--quiet", "--detach", old, since); err != nil {
		return d, err
	}
	defer func() {
		_, e := run(".", "git", "worktree", "remove", "--force", old)
		err = errors.Join(err, e)
	}()
	fmt.Fprintf(os.Stderr, "why: building %.8s\n", since)
	if _, err := run(old, "make", "build"); err != nil {
		return d, err
	}
	before, err := trace(old, file, filepath.Join(dir, "before.log"))
	if err != nil {
		return d, err
	}
	now, err := trace(".", file, filepath.Join(dir, "now.log"))
	return differ(since, before, now), err
}

// commit resolves the earlier commit.
func commit(golden, since string) (string, error) {
	if since == "" {
		since = "HEAD"
		if changed, err := run(".", "git", "status", "--porcelain", "--", golden); err != nil {
			return "", err
		} else if changed == "" {
			last, err := run(".", "git", "log", "-1", "--format=%H", "--", golden)
			if err != nil {
				return "", err
			}
			if last == "" {
				return "", fmt.Errorf("%s has no commit; name one with SINCE", golden)
			}
			since = last + "^"
		}
	}
	return run(".", "git", "rev-parse", "--verify", since+"^{commit}")
}

// trace runs a scenario with the program in a checkout and returns the lines of its schedule log.
// A run that is not as expected has a log, too.
func trace(dir, file, to string) ([]string, error) {
	_, err := run(dir, filepath.Join("bin", "ipamsim"), "run", file, "--trace", to)
	text, read := os.ReadFile(to)
	if read != nil {
		return nil, errors.Join(read, err)
	}
	return stepsIn(string(text)), nil
}

// run returns what a command prints, without the space around it. Its error has what it wrote to
// the standard error.
func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
