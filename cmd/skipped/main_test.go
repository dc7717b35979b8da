package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// told is what is printed of some packages of testdata/module, without times, and
// whether go test found them red.
func told(t *testing.T, packages ...string) (text string, red bool) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-json", "-count=1"}, packages...)...)
	cmd.Dir = "testdata/module"
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	events, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := filter(bytes.NewReader(events), &out); err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`[0-9.]+s`).ReplaceAllString(out.String(), "0s"), err != nil
}

// TestSkipped: what passed is silent, what was skipped is counted by its reason.
func TestSkipped(t *testing.T) {
	const want = "ok  \texample.org/module/calm\t0s\n" +
		"\nSKIPPED: 3 of 6 tests did not run:\n       2  needs a browser\n       1  no reason given\n"
	if got, red := told(t, "./calm"); red || got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestRed: of what failed nothing is lost: not what a test printed, not the words
// of a process that died, not what the compiler says.
func TestRed(t *testing.T) {
	for _, c := range []struct{ pkg, want string }{
		{"./red", "    red_test.go:12: wrong\n--- FAIL: TestFails/inside (0s)\nprinted\n--- FAIL: TestFails (0s)\nFAIL\nFAIL\texample.org/module/red\t0s\n\n3 tests, none skipped\n"},
		{"./dead", "last words\nFAIL\texample.org/module/dead\t0s\n\n0 tests, none skipped\n"},
		{"./broken", "# example.org/module/broken [example.org/module/broken.test]\nbroken/broken_test.go:5:33: undefined: missing\nFAIL\texample.org/module/broken [build failed]\n\n0 tests, none skipped\n"},
	} {
		if got, red := told(t, c.pkg); !red || got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}

// TestLongest: tests that take long are told, the longest first, with all their subtests; others are not.
func TestLongest(t *testing.T) {
	const events = `{"Action":"pass","Package":"p","Test":"TestQuick","Elapsed":14.9}
{"Action":"pass","Package":"p","Test":"TestLong","Elapsed":20.2}
{"Action":"pass","Package":"p","Test":"TestLonger/part","Elapsed":30}
{"Action":"pass","Package":"p","Test":"TestLonger","Elapsed":31.6}
{"Action":"pass","Package":"p"}
`
	var out bytes.Buffer
	if err := filter(strings.NewReader(events), &out); err != nil {
		t.Fatal(err)
	}
	if want := "\nthe longest:\n     32s  p TestLonger\n     20s  p TestLong\n\n4 tests, none skipped\n"; out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
}
