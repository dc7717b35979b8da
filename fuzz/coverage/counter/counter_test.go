package counter_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// In a build for a fuzzer every function has a counter of its own: the compiler must not merge functions
// with the same code.
func TestEveryFunctionHasACounter(t *testing.T) {
	lib := filepath.Join(t.TempDir(), "counters.a")
	if out, err := exec.Command("go", "build", "-o", lib, "-gcflags=-d=libfuzzer", "table.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	symbols, err := exec.Command("go", "tool", "nm", lib).Output()
	if err != nil {
		t.Fatal(err)
	}
	const counters = 4096
	if n := bytes.Count(symbols, []byte("..stmp_")); n < counters {
		t.Errorf("%d counters for %d counters", n, counters)
	}
}
