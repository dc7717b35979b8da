package kube_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDefinitionsAreUpstreams compares each definition that is served with the
// file of the module that it was copied from.
func TestDefinitionsAreUpstreams(t *testing.T) {
	for module, files := range map[string][2]string{
		"github.com/k8snetworkplumbingwg/network-attachment-definition-client": {"crds", "artifacts"},
		"github.com/k8snetworkplumbingwg/whereabouts":                          {"../ipam/whereabouts/crds", "doc/crds"},
	} {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		dir := strings.TrimSpace(string(out))
		if err != nil || dir == "" {
			t.Skipf("NOT COMPARED: %s is not in the module cache (%v); run go mod download", module, err)
		}
		copies, err := filepath.Glob(filepath.Join(files[0], "*.yaml"))
		if err != nil || len(copies) == 0 {
			t.Errorf("no copies in %s: %v", files[0], err)
		}
		for _, c := range copies {
			mine, theirs := must(os.ReadFile(c)), must(os.ReadFile(filepath.Join(dir, files[1], filepath.Base(c))))
			if !bytes.Equal(mine, theirs) {
				t.Errorf("%s differs from %s", c, dir)
			}
		}
	}
}
