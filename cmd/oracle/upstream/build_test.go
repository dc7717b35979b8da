package upstream

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReleases: Kubernetes' own programs are of the release that the simulator contains.
func TestReleases(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	for _, path := range []string{"k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"} {
		ours, theirs := required(t, filepath.Join(top, "go.mod"), path), required(t, filepath.Join(top, nested, "upstream", "go.mod"), path)
		if ours != theirs {
			t.Errorf("%s: go.mod requires %s, %s/upstream requires %s", path, ours, nested, theirs)
		}
	}
	if got, want := versions("v1.37.2"), " -X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"; got != want {
		t.Errorf("versions: got %q, want %q", got, want)
	}
}

// required is the version of module path in a go.mod file.
func required(t *testing.T, file, path string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^(?:require)?\s+` + regexp.QuoteMeta(path) + ` (v\S+)`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("%s: want a line that requires %s", file, path)
	}
	return string(m[1])
}
