package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// repositoryMark and longMark are comments in a tutorial: its commands run in the checkout,
// and with make init-test alone.
const (
	repositoryMark = "<!-- runs in the repository -->"
	longMark       = "<!-- takes minutes -->"
)

// instruction is a command of a tutorial and what it prints, standard error included. "…" is any
// text in a line, or any lines.
type instruction struct {
	command string
	code    int
	prints  []string
}

var (
	blocks   = regexp.MustCompile("(?ms)^```(console|yaml|diff) *([a-z./-]*)\n(.*?)^```$")
	exitCode = regexp.MustCompile(` *# exit code ([0-9]+)$`)
)

// instructionsOf reads the blocks of a tutorial. A block "console" has commands after "$ ", with
// their output below; a block "yaml NAME" or "diff NAME" is saved as a file of that name.
func instructionsOf(text string) (steps []instruction) {
	for _, b := range blocks.FindAllStringSubmatch(text, -1) {
		if kind, file, body := b[1], b[2], b[3]; kind != "console" {
			if file != "" {
				steps = append(steps, instruction{command: "cat >" + file + " <<'END'\n" + body + "END"})
			}
			continue
		}
		for line := range strings.Lines(b[3]) {
			line = strings.TrimSuffix(line, "\n")
			if command, is := strings.CutPrefix(line, "$ "); is {
				s := instruction{command: command}
				if m := exitCode.FindStringSubmatch(command); m != nil {
					s.command = strings.TrimSuffix(command, m[0])
					s.code, _ = strconv.Atoi(m[1]) // digits
				}
				steps = append(steps, s)
			} else if n := len(steps); n > 0 {
				steps[n-1].prints = append(steps[n-1].prints, line)
			}
		}
	}
	return steps
}

// TestTutorials runs the commands of each tutorial as written, one after another, and
// compares what they print and their exit codes.
func TestTutorials(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/tutorials/*.md")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d tutorials, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), longMark) && !*initFlag {
				t.Skip("SKIPPED: takes minutes: make init-test")
			}
			dir := t.TempDir()
			if strings.Contains(string(text), repositoryMark) {
				dir = "../.."
			}
			follow(t, dir, instructionsOf(string(text)))
		})
	}
}

// follow runs the steps in one shell, so that a cd is in effect for those that come after it.
func follow(t *testing.T, dir string, steps []instruction) {
	t.Helper()
	if len(steps) < 3 {
		t.Fatalf("only %d commands", len(steps))
	}
	var script strings.Builder
	for i, s := range steps {
		fmt.Fprintf(&script, "%s\nprintf '\\036%%s %%s\\036' %d $?\n", s.command, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", "exec 2>&1 </dev/null\n"+script.String())
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "MAKELEVEL=", "MAKEFLAGS=", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v", err)
	}
	parts := strings.Split(string(out), "\x1e")
	for i, s := range steps {
		if len(parts) < 2*i+2 {
			t.Fatalf("$ %s: was not run; before it:\n%s", s.command, parts[len(parts)-1])
		}
		printed, state := parts[2*i], parts[2*i+1]
		if state != fmt.Sprintf("%d %d", i, s.code) {
			t.Errorf("$ %s: exit code %s, want %d\n%s", s.command, strings.TrimPrefix(state, strconv.Itoa(i)+" "), s.code, printed)
		}
		if !matchesOutput(s.prints, strings.Split(strings.TrimSuffix(printed, "\n"), "\n")) {
			t.Errorf("$ %s\nprints:\n%s\nthe tutorial has:\n%s", s.command, printed, strings.Join(s.prints, "\n"))
		}
	}
}

// matchesOutput reports whether lines are those that a tutorial has.
func matchesOutput(want, got []string) bool {
	var pattern strings.Builder
	for _, w := range want {
		if strings.TrimSpace(w) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(w, " ")), "…", ".*") + ` *\n`)
	}
	text := strings.Join(got, "\n") + "\n"
	if text == "\n" {
		text = ""
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(text)
}

func TestMatchesOutput(t *testing.T) {
	got := []string{"3 runs in 0.4 s", "one", "two"}
	for _, x := range []struct {
		want  string
		match bool
	}{
		{"3 runs in … s\none\ntwo", true}, {"…\ntwo", true}, {"3 runs in 0.4 s\n…", true}, {"…", true},
		{"3 runs in … s\ntwo", false}, {"…\none", false}, {"two", false}, {"3 runs in 0.4 s\none\ntwo\nthree", false},
	} {
		if m := matchesOutput(strings.Split(x.want, "\n"), got); m != x.match {
			t.Errorf("%q: %v, want %v", x.want, m, x.match)
		}
	}
	if !matchesOutput(nil, []string{""}) || matchesOutput(nil, []string{"x"}) {
		t.Error("a command that prints nothing")
	}
}
