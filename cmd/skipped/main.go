// Command skipped reads what "go test -json" says on its standard input, prints
// what go test prints without it, and at the end which tests took the longest, and which did
// not run and why:
//
//	go test -json ./... | go run ./cmd/skipped
//
// A test that was skipped is as green as one that ran, and go test says nothing of
// it: a machine without Chromium would seem to have tested the pages.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := filter(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "skipped:", err)
		os.Exit(2)
	}
}

// event is a line of go test -json: cmd/test2json and, of a build, cmd/go (go help
// buildjson).
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

// tally is what was heard so far.
type tally struct {
	tests   int                            // and subtests that ended
	skipped map[string]int                 // tests by the reason why they were skipped
	said    map[string]map[string][]string // by package and test, of those that have not ended
	long    []event                        // tests, without subtests, that took longMin and more
}

// Of the tests that took longMin seconds the longestMax longest are told: where to begin if all
// take too long.
const (
	longMin    = 15
	longestMax = 15
)

// filter copies until in ends.
func filter(in io.Reader, out io.Writer) error {
	t := &tally{skipped: map[string]int{}, said: map[string]map[string][]string{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if _, err := io.WriteString(out, t.hear(line)); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF:
			_, err = io.WriteString(out, t.sum())
			return err
		default:
			return err
		}
	}
}

// frame are the lines that go test says more with -v, which -json implies.
var frame = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME|ATTR) .*|PASS)\n$`)

// hear takes one line and returns what is to be printed.
func (t *tally) hear(line string) string {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil {
		return line // go's own complaint
	}
	said := t.said[e.Package]
	if said == nil {
		said = map[string][]string{}
		t.said[e.Package] = said
	}
	switch e.Action {
	case "build-output":
		return e.Output
	case "output":
		if !frame.MatchString(e.Output) {
			said[e.Test] = append(said[e.Test], e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			delete(t.said, e.Package)
			return all(e.Action, said)
		}
		t.tests++
		if e.Elapsed >= longMin && !strings.Contains(e.Test, "/") {
			t.long = append(t.long, e)
		}
		if e.Action == "skip" {
			t.skipped[reason(said[e.Test])]++
		}
		text := said[e.Test]
		delete(said, e.Test)
		if e.Action == "fail" {
			return strings.Join(text, "")
		}
	}
	return ""
}

// all is what is left to say of a package that has ended: if it failed, also what
// tests said that never ended, a panic, say.
func all(action string, said map[string][]string) string {
	own := said[""]
	delete(said, "")
	if action != "fail" {
		return strings.Join(own[max(0, len(own)-1):], "") // "ok", or that there are no tests
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(said)) {
		b.WriteString(strings.Join(said[name], ""))
	}
	b.WriteString(strings.Join(own, ""))
	return b.String()
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason is why a test says that it does not run.
func reason(said []string) string {
	for _, line := range slices.Backward(said) {
		if place.MatchString(line) {
			return strings.TrimSpace(place.ReplaceAllString(line, ""))
		}
	}
	return "no reason given"
}

// longest is a paragraph of the tests that took the longest, or nothing.
func (t *tally) longest() string {
	if len(t.long) == 0 {
		return ""
	}
	slices.SortStableFunc(t.long, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	var b strings.Builder
	b.WriteString("\nthe longest:\n")
	for _, e := range t.long[:min(len(t.long), longestMax)] {
		fmt.Fprintf(&b, "%7.0fs  %s %s\n", e.Elapsed, e.Package, e.Test)
	}
	return b.String()
}

// sum is the end of the report.
func (t *tally) sum() string { return t.longest() + t.notRun() }

func (t *tally) notRun() string {
	n := 0
	var lines []string
	for why, times := range t.skipped {
		n += times
		lines = append(lines, fmt.Sprintf("%8d  %s\n", times, why))
	}
	if n == 0 {
		return fmt.Sprintf("\n%d tests, none skipped\n", t.tests)
	}
	slices.Sort(lines)
	slices.Reverse(lines)
	return fmt.Sprintf("\nSKIPPED: %d of %d tests did not run:\n%s", n, t.tests, strings.Join(lines, ""))
}
