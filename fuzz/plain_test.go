package fuzz_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPlainFuzz: with Go's own runtime, go test -fuzz of a target whose inputs are runs fails with
// an explanation.
func TestPlainFuzz(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.fuzz=^FuzzCalico$", "-test.fuzztime=1x", "-test.fuzzcachedir="+t.TempDir(), "-stock")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "needs the hermetic build, in which runs repeat; run make fuzz TARGET=FuzzCalico") {
		t.Errorf("%v\n%s", err, out)
	}
}
