package testfiles_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ipamsim/reports/golden/testfiles"
)

// write makes a folder of files.
func write(dir string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func ExampleAll() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := write(dir, map[string]string{
		"letters.txtar": "# Two letters.\n-- c.yaml --\nc: 1\n-- c.err --\nno c\n-- a.yaml --\na: 1\n",
		"b.yaml":        "b: 1\n",
	}); err != nil {
		fmt.Println(err)
		return
	}
	files, err := testfiles.All(dir, ".yaml")
	for _, f := range files {
		fmt.Printf("%s of %q: %s", f.Name, filepath.Base(f.Archive), f.Data)
	}
	fmt.Println(err)
	// Output:
	// a.yaml of "letters.txtar": a: 1
	// b.yaml of ".": b: 1
	// c.yaml of "letters.txtar": c: 1
	// <nil>
}

func TestAllRefuses(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nothing of the suffix":   {"a.txtar": "-- a.err --\nx\n", "b.err": "x\n"},
		"twice in archives":       {"a.txtar": "-- a.yaml --\n", "b.txtar": "-- a.yaml --\n"},
		"alone and in an archive": {"a.txtar": "-- a.yaml --\n", "a.yaml": ""},
	} {
		dir := t.TempDir()
		if err := write(dir, files); err != nil {
			t.Fatal(err)
		}
		if got, err := testfiles.All(dir, ".yaml"); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, map[string]string{"x.txtar": "-- a.yaml --\none\n-- empty.yaml --\n", "b.yaml": "two\n"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.yaml": "one\n", "b.yaml": "two\n", "empty.yaml": ""} {
		if got, err := testfiles.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"yaml", "c.yaml", "nowhere/a.yaml"} {
		if got, err := testfiles.ReadFile(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
