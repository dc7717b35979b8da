package answer_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// Every answer names lines of upstream in the versions that go.mod requires.
func TestSources(t *testing.T) {
	for _, a := range answer.Table {
		if len(a.Sources) == 0 {
			t.Errorf("%s: no source", a.Way)
		}
		for _, s := range a.Sources {
			dir, version := module(t, s.Module)
			if version != s.Version {
				t.Errorf("%s: go.mod has %s %s, the table %s: compare them", a.Way, s.Module, version, s.Version)
			}
			text, err := os.ReadFile(filepath.Join(dir, s.File))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			if s.Line > len(lines) || !strings.Contains(lines[s.Line-1], s.Text) {
				t.Errorf("%s: line %d of %s is not %q", a.Way, s.Line, s.File, s.Text)
			}
		}
	}
}

// module returns the folder and the version of a required module. It downloads the module
// first, because the build may not need it.
func module(t *testing.T, path string) (dir, version string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-json", path).Output()
	var m struct{ Dir, Version string }
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		t.Fatalf("go list -m %s: %v", path, err)
	}
	return m.Dir, m.Version
}

// README.md describes every answer.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range way.Names() {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s is not in sim/README.md", name)
		}
	}
}

// A request has one answer of each way, and each answer comes before or after the commit.
func TestOneAnswerPerWay(t *testing.T) {
	for _, s := range []answer.Server{answer.API, answer.Etcd} {
		for _, m := range []answer.Meets{answer.Read, answer.Write, answer.Watch, answer.Resume} {
			seen := map[way.Way]bool{}
			for _, a := range answer.Table {
				if a.Of != s || a.Meets&m == 0 {
					continue
				}
				if seen[a.Way] || !a.Before && !a.After {
					t.Errorf("server %d, requests %d: %s", s, m, a.Way)
				}
				seen[a.Way] = true
			}
		}
	}
}
