package cluster_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every function of Kubernetes that KUBELET.md names begins at the line given there, and every test
// that it names exists.
func TestSources(t *testing.T) {
	text, err := os.ReadFile("KUBELET.md")
	if err != nil {
		t.Fatal(err)
	}
	roots := map[string]string{"pkg": moduleDir(t, "k8s.io/kubernetes"), "cri-client": moduleDir(t, "k8s.io/cri-client"), "component-helpers": moduleDir(t, "k8s.io/component-helpers"), "libcni": filepath.Join(moduleDir(t, "github.com/containernetworking/cni"), "libcni")}
	cited := regexp.MustCompile("`(\\w+)` ([\\w-]+)/([\\w/.-]+\\.go):(\\d+)").FindAllStringSubmatch(string(text), -1)
	checked := 0
	for _, c := range cited {
		root, ok := roots[c[2]]
		if !ok {
			continue // containerd and Multus: not modules of ours
		}
		file := filepath.Join(root, c[3])
		if c[2] == "pkg" {
			file = filepath.Join(root, "pkg", c[3])
		}
		if got := lineOf(t, file, c[4]); !regexp.MustCompile(`^(func|func \(.*\)) ` + c[1] + `\(`).MatchString(got) {
			t.Errorf("%s: line %s of %s is %q", c[1], c[4], file, got)
		}
		checked++
	}
	if checked < 30 {
		t.Errorf("%d functions are named", checked)
	}
	tests := ""
	for _, pattern := range []string{"*_test.go", "multus/*_test.go", "../ipam/interfaceplugin/*_test.go", "../../scenarios/*_test.go"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tests += string(b)
		}
	}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(tests, fmt.Sprintf("func %s(", m[1])) {
			t.Errorf("there is no %s", m[1])
		}
	}
}

// moduleDir is the folder of a required module, loaded first: nothing that is built may need it.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	var m struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		t.Fatalf("go mod download %s: %v", module, err)
	}
	return m.Dir
}

func lineOf(t *testing.T, file, number string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return ""
	}
	n, _ := strconv.Atoi(number)
	lines := strings.Split(string(text), "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}
