package calico

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"ipamsim/sim/ipam/calico/upstream/cni/ipamplugin"
	"ipamsim/sim/ipam/calico/upstream/cni/plugin"
)

// TestSourcesAreUpstreams: each package that Sources names exists in the release, so that no name
// matches nothing.
func TestSourcesAreUpstreams(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, copied := strings.TrimSpace(string(out)), 0
	for _, s := range sources() {
		if _, err := os.Stat(filepath.Join(dir, strings.TrimPrefix(s.Package, module))); err != nil || !strings.HasPrefix(s.Module, module+"@") {
			t.Errorf("%+v: %v", s, err)
		}
		if s.Copied != "" {
			copied++
		}
	}
	if copied != 8 {
		t.Errorf("%d copies", copied)
	}
}

// TestCopiesKeepTheirLines: a function of a copy is at the same line as in upstream's file.
func TestCopiesKeepTheirLines(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	for from, f := range map[string]func(string){
		"cni-plugin/pkg/plugin/plugin.go":          plugin.Main,
		"cni-plugin/pkg/ipamplugin/ipam_plugin.go": ipamplugin.Main,
	} {
		at := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
		file, line := at.FileLine(at.Entry())
		src, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), from))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(string(src), "\n")[line-1]; filepath.Base(file) != filepath.Base(from) || !strings.HasPrefix(got, "func Main(") {
			t.Errorf("%s:%d is %q", file, line, got)
		}
	}
}
