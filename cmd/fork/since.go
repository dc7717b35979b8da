package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// since writes, in Markdown, what changed between the releases of another go.mod, before, and
// those of ours, of all that ipamsim takes from upstream: functions that it transcribes, with
// the differences of upstream's source; packages that are generated, by function; and symbols
// that it reaches by name. With update it records the sums of transcribed functions as they
// are now, beside those of before: the build accepts them, the reader has to.
func since(before string, update bool, w io.Writer) error {
	was, err := releasedBy(before)
	if err != nil {
		return err
	}
	now, err := released()
	if err != nil {
		return err
	}
	return errors.Join(transcribedSince(was, now, update, w), generatedSince(was, now, w), linkedSince(was, now, w))
}

// transcribedSince lists the functions of upstream's that ours transcribe.
func transcribedSince(was, now map[string]string, update bool, w io.Writer) error {
	all, err := transcriptions()
	if err != nil {
		return err
	}
	seen := map[string]bool{} // a function is transcribed in several places
	for _, t := range all {
		one, err := functionOf(was, t.pkg, t.symbol)
		if err != nil {
			return err
		}
		two, err := functionOf(now, t.pkg, t.symbol)
		if err != nil {
			return err
		}
		if tokens(one.src) == tokens(two.src) {
			continue
		}
		fmt.Fprintf(w, "### %s.%s\n\nTranscribed in `%s` (%s).\n\n", t.pkg, t.symbol, t.ours, t.at)
		switch name := t.pkg + "." + t.symbol; {
		case seen[name]:
			fmt.Fprint(w, "As above.\n\n")
		case two.at == "":
			fmt.Fprint(w, "Upstream no longer has this function.\n\n")
		default:
			text, err := diff(one.src, two.src)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "```diff\n%s```\n\n", text)
			seen[name] = true
		}
		if err := t.accept(two, update); err != nil {
			return err
		}
	}
	return nil
}

// functionOf is a function of upstream's in one of the modules' folders.
func functionOf(dirs map[string]string, pkg, symbol string) (function, error) {
	for path, dir := range dirs {
		if inside, ok := strings.CutPrefix(pkg, path+"/"); ok {
			files, err := filepath.Glob(filepath.Join(dir, inside, "*.go"))
			if err != nil {
				return function{}, err
			}
			return find(files, symbol)
		}
	}
	return function{}, fmt.Errorf("%s is in none of upstream's modules", pkg)
}

// accept adds the sum of upstream's function as it is now to the line of the table.
func (t transcription) accept(f function, update bool) error {
	sum := digest(f.src)
	if !update || f.at == "" || slices.Contains(t.sums, sum) {
		return nil
	}
	table, _, _ := strings.Cut(t.at, ":")
	b, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	text := strings.Split(string(b), "\n")
	for i, l := range text {
		if f := strings.Fields(l); len(f) == 4 && f[1] == t.pkg && f[2] == t.symbol && f[3] == strings.Join(t.sums, ",") {
			text[i] = strings.TrimRight(l, " ") + "," + sum
		}
	}
	return os.WriteFile(table, []byte(strings.Join(text, "\n")), 0o666)
}

// generatedSince lists the files that are generated from upstream's packages, and the
// functions of each that differ.
func generatedSince(was, now map[string]string, w io.Writer) error {
	all, err := allCopies()
	if err != nil {
		return err
	}
	for _, c := range all {
		one, err := c.make(was)
		if err != nil {
			fmt.Fprintf(w, "### %s\n\nThe previous packages cannot be generated: %v\n\n", c.module, err)
			continue
		}
		two, err := c.make(now)
		if err != nil {
			return err
		}
		paths := maps.Clone(one)
		maps.Copy(paths, two)
		head := fmt.Sprintf("### Generated from %s\n\n", c.module)
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			what := "changed"
			switch {
			case bytes.Equal(one[path], two[path]):
				continue
			case one[path] == nil:
				what = "new"
			case two[path] == nil:
				what = "gone"
			case filepath.Ext(path) == ".go":
				if what, err = differ(one[path], two[path]); err != nil {
					return err
				}
			}
			fmt.Fprintf(w, "%s- `%s`: %s\n", head, path, what)
			head = ""
		}
		if head == "" {
			fmt.Fprintln(w)
		}
	}
	return nil
}

// linkedSince lists what ipamsim reaches by name and what has another signature.
func linkedSince(was, now map[string]string, w io.Writer) error {
	all, err := releaseLinks("sim")
	if err != nil {
		return err
	}
	for _, l := range all {
		for path, dir := range now {
			inside, ok := strings.CutPrefix(l.pkg, path+"/")
			if !ok || was[path] == "" {
				continue
			}
			one, _, err := declared(filepath.Join(was[path], inside), l.symbol)
			if err != nil {
				return err
			}
			two, at, err := declared(filepath.Join(dir, inside), l.symbol)
			if err != nil {
				return err
			}
			if at == "" {
				two = "gone"
			}
			if one != two {
				fmt.Fprintf(w, "### %s.%s\n\nReached by name from `%s`. Was `%s`, is `%s`.\n\n", l.pkg, l.symbol, l.at, one, two)
			}
		}
	}
	return nil
}

// diff is git's of two texts, without its head.
func diff(a, b []byte) (string, error) {
	dir, err := os.MkdirTemp("", "ipamsim-fork-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	one, two := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.WriteFile(one, append(a, '\n'), 0o600), os.WriteFile(two, append(b, '\n'), 0o600)); err != nil {
		return "", err
	}
	out, err := exec.Command("git", "diff", "--no-index", "--no-color", "--no-ext-diff", one, two).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // they differ
	}
	_, text, _ := strings.Cut(string(out), "\n@@")
	return "@@" + text, err
}
