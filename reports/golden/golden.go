// Package golden compares the output of a test with a reviewed file.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the goldens; read the diff before you commit it")

// Check compares got with the file, a path below the test's own folder. With
// -update it writes the file instead, in a folder that is there.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s changed (-want +got); -update rewrites it, read the diff before you commit it:\n%s", file, d)
	}
}
