package overlay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every edit fits the Go that builds this; the same input gives the same path
// and rewrites nothing.
func TestFitsInstalledGo(t *testing.T) {
	src, version, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := generate(src, version, edits())
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	first, err := write(base, src, version, text)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := write(base, src, version, text)
	if err != nil || second != first {
		t.Fatalf("second path %s, %v; first %s", second, err, first)
	}
	if after, _ := os.Stat(second); !os.SameFile(before, after) {
		t.Error("unchanged overlay.json was written again")
	}
	left, _ := os.ReadDir(filepath.Dir(first))
	if want := len(text) + 1; len(left) != want {
		t.Errorf("%d files, want %d: %v", len(left), want, left)
	}
}

// All misfits are listed, each with version, file, edit and text.
func TestMisfits(t *testing.T) {
	src := t.TempDir()
	if err := os.WriteFile(filepath.Join(src, "a.go"), []byte("one\ntwo\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := generate(src, "go9.9", []edit{
		{"a.go", "fits", "one\n", "1\n"},
		{"a.go", "is gone", "three\nfour\n", ""},
		{"a.go", "is there twice", "two\n", ""},
		{"b.go", "has no file", "x", ""},
	})
	if !errors.Is(err, ErrMisfit) {
		t.Fatal(err)
	}
	want := []string{
		`go9.9: src/a.go: edit "is gone": text found 0 times, want 1:` + "\n\t| three\n\t| four",
		`go9.9: src/a.go: edit "is there twice": text found 2 times, want 1:` + "\n\t| two",
		`go9.9: edit "has no file": `,
		`3 of 4 edits do not fit go9.9`,
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error lacks %q:\n%v", w, err)
		}
	}
}
