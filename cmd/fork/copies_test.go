package main

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	cniPlugin       = "cni-plugin/pkg/plugin/plugin.go"
	kubeControllers = "kube-controllers/cmd/kube-controllers/main.go"
	ipamPlugin      = "cmd/whereabouts.go"
)

// unchanged compares what a module gives with the checksums of its table.
func unchanged(t *testing.T, dirs map[string]string) error {
	t.Helper()
	all, err := allCopies()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if dirs[c.module] != "" {
			made, err := c.make(dirs)
			return errors.Join(err, c.checkSums(made))
		}
	}
	return nil
}

// TestCopiesAreUpstreams: every build stops where a package is not the one whose
// checksum the table records, by the names of the package and its functions.
func TestCopiesAreUpstreams(t *testing.T) {
	clone(t)
	for _, c := range []struct {
		name, module string
		edit         func(t *testing.T, dir string)
		want         []string // of the error; none: no error
	}{
		{"nothing moved", calico, func(*testing.T, string) {}, nil},
		{"another function", calico, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, cniPlugin), "\tif conf.NumQueues <= 0 {", "\tif conf.NumQueues <= 1 {")
			edit(t, filepath.Join(dir, "cni-plugin/pkg/k8s/k8s.go"), "attempts := 5;", "attempts := 6;")
		}, []string{"go run ./cmd/fork -update", "cni-plugin/pkg/plugin has changed: its checksum is ", "sim/ipam/calico/upstream/cni/plugin/plugin.go: cmdAdd", "sim/ipam/calico/upstream/cni/k8s/k8s.go: CmdDelK8s"}},
		{"a program", calico, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, kubeControllers), "\tstop := make(chan struct{})\n", "\tstop := make(chan struct{}, 1)\n")
			edit(t, filepath.Join(dir, kubeControllers), "\tclose(cc.stop)\n", "")
		}, []string{"sim/ipam/calico/upstream/kubecontrollers/program/main.go: (*controllerControl).RunControllers, main"}},
		{"another comment", calico, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, cniPlugin), "// Determine MTU to use.", "// Which MTU?")
		}, []string{"sim/ipam/calico/upstream/cni/plugin/plugin.go: something outside of functions"}},
		{"another file", calico, func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "cni-plugin/pkg/plugin/more.go"), []byte("package plugin\n\nfunc more() {}\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}, []string{"sim/ipam/calico/upstream/cni/plugin/more.go: more"}},
		{"a file less", calico, func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "cni-plugin/internal/pkg/utils/network.go")); err != nil {
				t.Fatal(err)
			}
		}, []string{"sim/ipam/calico/upstream/cni/utils/network.go: init"}},
		{"no package", calico, func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "cni-plugin/pkg/k8s")); err != nil {
				t.Fatal(err)
			}
		}, []string{"no package cni-plugin/pkg/k8s, which ipamsim is built from (sim/ipam/calico/copies.txt)"}},
		{"an import without an adapter", calico, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, cniPlugin), "\t\"runtime/debug\"\n", "\t\"os/exec\"\n\t\"runtime/debug\"\n")
		}, []string{cniPlugin, "it imports os/exec, for which there is no adapter (sim/ipam/calico/copies.txt)"}},
		{"nothing moved in the other", whereabouts, func(*testing.T, string) {}, nil},
		{"functions of a package main and of another", whereabouts, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, ipamPlugin), "\tdefer func() { safeCloseKubernetesBackendConnection(ipam) }()\n\n\tlogging.Debugf(\"Beginning delete", "\tlogging.Debugf(\"Beginning delete")
			edit(t, filepath.Join(dir, "pkg/storage/kubernetes/client.go"), "return newClient(config)\n}\n\nfunc newClient(", "return nil, nil\n}\n\nfunc newClient(")
		}, []string{"sim/ipam/whereabouts/upstream/cmd/whereabouts.go: cmdDelFunc", "sim/ipam/whereabouts/upstream/pkg/storage/kubernetes/client.go: NewClientViaKubeconfig"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := part(t, c.module)
			c.edit(t, dir)
			err := unchanged(t, map[string]string{c.module: dir})
			if c.want == nil && err != nil || c.want != nil && err == nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %q in it", err, want)
				}
			}
		})
	}
}

// TestForkIsLaidOver: a build with a fork has the fork's files in the place of our
// copies, and what the overlay of every build says.
func TestForkIsLaidOver(t *testing.T) {
	clone(t)
	dir := part(t, calico)
	edit(t, filepath.Join(dir, cniPlugin), "\tif conf.NumQueues <= 0 {", "\tif conf.NumQueues <= 1 {")
	edit(t, filepath.Join(dir, kubeControllers), "\tclose(cc.stop)\n", "")
	if err := os.Remove(filepath.Join(dir, "cni-plugin/internal/pkg/utils/network.go")); err != nil {
		t.Fatal(err)
	}
	every := filepath.Join(t.TempDir(), "every.json")
	if err := os.WriteFile(every, []byte(`{"Replace":{"/go/src/runtime/x.go":"/cache/x.go"}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	modfile := filepath.Join(t.TempDir(), "fork.mod")
	if err := lay(modfile, every, map[string]string{calico: dir}); err != nil {
		t.Fatal(err)
	}
	o, err := readOverlay(overlayFor(modfile))
	if err != nil {
		t.Fatal(err)
	}
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(top, "sim/ipam/calico/upstream/cni")
	gone, hidden := o.Replace[ours+"/utils/network.go"]
	if len(o.Replace) != 4 || o.Replace["/go/src/runtime/x.go"] != "/cache/x.go" || !hidden || gone != "" {
		t.Errorf("%v", o.Replace)
	}
	b, err := os.ReadFile(o.Replace[ours+"/plugin/plugin.go"])
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); !strings.Contains(s, "conf.NumQueues <= 1") || !strings.Contains(s, `os "ipamsim/sim/ipam/platform/std"`) {
		t.Error("it is not the fork's plugin with our adapters")
	}
	b, err = os.ReadFile(o.Replace[filepath.Join(top, "sim/ipam/calico/upstream/kubecontrollers/program/main.go")])
	if s := string(b); err != nil || !strings.Contains(s, "\npackage program\n") || !strings.Contains(s, "\nfunc main() {") || strings.Contains(s, "close(cc.stop)") {
		t.Error("it is not the fork's kube-controllers with another name", err)
	}
}

// TestForkIsNoneOfOurPackages: what is written for a fork is code of other packages,
// which go vet ./... and the like must not find.
func TestForkIsNoneOfOurPackages(t *testing.T) {
	clone(t)
	dir := part(t, calico)
	edit(t, filepath.Join(dir, kubeControllers), "\tclose(cc.stop)\n", "")
	if err := os.MkdirAll(forks, 0o777); err != nil {
		t.Fatal(err)
	}
	modfile := filepath.Join(forks, "test.mod")
	if err := lay(modfile, "", map[string]string{calico: dir}); err != nil {
		t.Fatal(err)
	}
	written, err := filepath.Glob(forks + "/test/sim/ipam/calico/upstream/kubecontrollers/program/*.go")
	nested, _ := filepath.Glob(forks + "/test/sim/ipam/calico/upstream/kubecontrollers/program/*/*")
	if err != nil || len(written)+len(nested) == 0 {
		t.Fatal("nothing was written for the fork", err)
	}
	out, err := command("list", "./...")
	if err != nil || strings.Contains(string(out), "ipamsim/bin") {
		t.Errorf("%s %v", out, err)
	}
}

// TestForkOfPackageMain: the fork's programs are packages that can be imported, as ours.
func TestForkOfPackageMain(t *testing.T) {
	clone(t)
	dir := part(t, whereabouts)
	edit(t, filepath.Join(dir, ipamPlugin), "\"CNI CHECK method is not implemented\"", "\"not yet\"")
	modfile := filepath.Join(t.TempDir(), "fork.mod")
	if err := lay(modfile, "", map[string]string{whereabouts: dir}); err != nil {
		t.Fatal(err)
	}
	o, err := readOverlay(overlayFor(modfile))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := filepath.Abs("sim/ipam/whereabouts/upstream/cmd/whereabouts.go")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(o.Replace[ours])
	if err != nil || len(o.Replace) != 1 {
		t.Fatal(o.Replace, err)
	}
	if s := string(b); !strings.Contains(s, "\npackage cmd\n\n//line "+whereabouts+"/"+ipamPlugin+":3\n") || !strings.Contains(s, "not yet") {
		t.Errorf("%s", s)
	}
}

// TestNoCopyTouchesTheMachine: generated packages import nothing of Go's own by which
// they could touch the machine.
func TestNoCopyTouchesTheMachine(t *testing.T) {
	clone(t)
	all, err := allCopies()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d tables, %v", len(all), err)
	}
	out, err := command("list", "-f", "{{join .Imports \"\\n\"}}", "./sim/ipam/calico/upstream/cni/...", "./sim/ipam/calico/upstream/kubecontrollers/...", "./sim/ipam/whereabouts/upstream/...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if slices.Contains(platform, p) {
			t.Errorf("a copy imports %s", p)
		}
	}
}

// TestCopiesSayUpstreamsLines: whatever an edit before them moves, the lines after the
// imports are at upstream's numbers, in a file of upstream's name.
func TestCopiesSayUpstreamsLines(t *testing.T) {
	c := copies{imports: map[string]string{"os": "ipamsim/os"}}
	src := "// A licence.\n\n// Package p.\npackage p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n// F fails.\nfunc F() { fmt.Println(os.Args) }\n"
	out, err := c.text("github.com/a/up/p", "p", "/mod/p/p_linux.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "plinux.go", out, 0)
	if err != nil {
		t.Fatal(err)
	}
	if at := set.Position(file.Scope.Lookup("F").Pos()); at.Filename != "github.com/a/up/p/p_linux.go" || at.Line != 12 {
		t.Errorf("F is at %s:\n%s", at, out)
	}
}
