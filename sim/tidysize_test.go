package sim_test

import (
	"bytes"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// A package has one purpose, which 2,500 lines without tests are mostly enough for. These
// have more. model has the types that all rooms share: what an event records belongs beside
// Event.
var largePackages = map[string]bool{
	"model": true, "model/invariant": true, "model/reference/calico": true, "scenarios": true, "sim/kube": true,
}

const packageLinesMax = 2500

func TestTidyPackageSize(t *testing.T) {
	module, lines := root(t), map[string]int{}
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(module, name)
		lines[path.Dir(name)] += bytes.Count(src, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range lines {
		if n > packageLinesMax && !largePackages[dir] {
			t.Errorf("%s: size: %d lines without tests, at most %d; split it where its types are apart", dir, n, packageLinesMax)
		}
	}
	for dir := range largePackages {
		if lines[dir] <= packageLinesMax {
			t.Errorf("%s: size: %d lines without tests, take it off the list", dir, lines[dir])
		}
	}
}
