package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/format"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
)

var initFlag = flag.Bool("init", false, "build what ipamsim init writes, and have it find its planted race (minutes)")

// written is what init writes for a manager.
func written(t *testing.T, args ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "firstfree")
	var stdout, stderr bytes.Buffer
	if code := Run(append([]string{"init", "--manager", "firstfree", "--dir", dir}, args...), &stdout, &stderr, managers.All()...); code != exit.Expected {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	return dir
}

// TestInitFiles: Go files are formatted, scenario files load among managers that have the
// name, and go.mod has every replace line of ours.
func TestInitFiles(t *testing.T) {
	dir := written(t)
	crd, err := os.ReadFile(filepath.Join(dir, "crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	like := *canary.New()
	like.Name, like.Processes = "firstfree", []ipam.Process{{Name: "firstfree-reconciler"}}
	like.CRDs = func() ([]*apiextv1.CustomResourceDefinition, error) {
		d := &apiextv1.CustomResourceDefinition{}
		return []*apiextv1.CustomResourceDefinition{d}, yaml.UnmarshalStrict(crd, d)
	}
	like.Network = func(key string, _ json.RawMessage) (model.Network, bool, error) {
		return model.Network{Key: key}, true, nil
	}
	like.Policy = func(n model.Network, _ json.RawMessage, objects []ipam.Object) (model.Network, error) {
		if !slices.ContainsFunc(objects, func(o ipam.Object) bool { return o.Kind == "Pool" }) {
			return n, errors.New("no Pool among the objects")
		}
		p := netip.MustParsePrefix("10.0.0.0/28")
		n.Ranges = []model.Range{{Prefix: p, Start: p.Addr().Next(), End: model.LastAddr(p).Prev()}}
		return n, nil
	}
	for name := range skeletonFiles {
		name = strings.ReplaceAll(name, "<<.Name>>", "firstfree")
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("<<.")) {
			t.Errorf("%s: a template was not filled in", name)
		}
		switch filepath.Ext(name) {
		case ".go":
			if want, err := format.Source(text); err != nil || !bytes.Equal(want, text) {
				t.Errorf("%s: not as gofmt has it (%v)", name, err)
			}
		case ".yaml":
			if strings.HasPrefix(name, "scenarios/") {
				if _, err := (scenarios.Managers{&like}).Parse(name, text); err != nil {
					t.Error(err)
				}
			}
		}
	}
	own, err := readModule("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range own.Replace {
		if !strings.Contains(string(text), "\t"+r.Old.String()+" => "+r.New.String()+"\n") {
			t.Errorf("go.mod: no replace of %s", r.Old)
		}
	}
	list := exec.Command("go", "list", "-mod=readonly", "-m", "ipamsim")
	list.Dir, list.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := list.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ipamsim v0.0.0 => ") {
		t.Errorf("go list -m ipamsim: %s (%v)", out, err)
	}
}

// TestInitRefuses checks that errors are one line, and that nothing is written.
func TestInitRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ args, want string }{
		{"", "--manager: missing"},
		{"--manager First-Free", "lower-case letters and digits"},
		{"--manager calico", "a built-in manager"},
		{"--manager first --dir " + full, "not empty, it has mine.txt"},
		{"--manager first --module " + full, "go.mod"},
		{"--manager first --import-path example.com/second", "want a module path that ends in /first"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		args := append([]string{"init", "--dir", dir}, strings.Fields(x.args)...)
		var stdout, stderr bytes.Buffer
		if code := Run(args, &stdout, &stderr, managers.All()...); code != exit.Cannot || !strings.Contains(stderr.String(), x.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", x.args, code, &stderr, x.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: %s was made", x.args, dir)
		}
	}
	if all, err := os.ReadDir(full); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

// TestInit does what README says, in a folder outside of the tree: what init writes
// builds and passes; its planted duplicate is found, shrunk and replayed within a minute,
// by go test and by the program. Times are printed.
func TestInit(t *testing.T) {
	if !*initFlag {
		t.Skip("SKIPPED: builds all of Kubernetes: make init-test")
	}
	dir := written(t)
	run := runIn(t, dir)
	run("ok  \texample.com/firstfree/simulation", "make", "test")
	if took := run("--- PASS: TestPlanted", "go", "run", "ipamsim/cmd/hermetic", "go", "test", "-v", "-run", "^TestPlanted$", "./simulation"); took > time.Minute {
		t.Errorf("the planted race was found after %s, want a minute at most", took)
	}
	run("", "make", "build")
	run("example.com/firstfree", "bin/ipamsim", "version")
	began := time.Now()
	run("duplicate-address", "bin/ipamsim", "explore", "scenarios/burst.yaml", "--time", "20s", "--out", "findings/burst")
	replays(t, dir, run, "burst")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("explore and replay took %s, want a minute at most", took)
	}
	run("entered into the list of firstfree", "bin/ipamsim", "explore", "--space", "firstfree", "--time", "20s", "--learn")
	replays(t, dir, run, "firstfree")
	run("by searches", "bin/ipamsim", "explore", "--space", "firstfree", "--time", "10s", "--out", "findings/again")
	run(`--space: unknown space "whereabouts", want one of firstfree`, "bin/ipamsim", "explore", "--space", "whereabouts")
	run("rollout", "bin/ipamsim", "run", "scenarios/full.yaml", "scenarios/rollout.yaml", "--verify")
	imports(t, run, dir)
	run("10.0.0.0/27", "bin/ipamsim", "plan", "plan.yaml", "--out", "answers")
	run("scenarios now", "make", "baseline") // of what is there
	run("green", "make", "gate")
	run("PASS", "make", "fuzz", "TARGET=FuzzSchedule", "T=10s")
}

// runIn returns a function that runs a command in a folder, whose output must contain want.
func runIn(t *testing.T, dir string) func(want string, args ...string) time.Duration {
	return func(want string, args ...string) time.Duration {
		t.Helper()
		began := time.Now()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
		out, err := cmd.CombinedOutput()
		took := time.Since(began)
		if !strings.Contains(string(out), want) {
			t.Fatalf("%s (%v): no %q in\n%s", strings.Join(args, " "), err, want, out)
		}
		t.Logf("%s: %s", strings.Join(args, " "), took.Round(100*time.Millisecond))
		return took
	}
}

// imports has the program read a dump of a cluster in which an address is held for a pod
// that is gone, and live on from it.
func imports(t *testing.T, run func(want string, args ...string) time.Duration, dir string) {
	t.Helper()
	text, err := os.ReadFile("testdata/controller/dump.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "dump.yaml"), text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	run("default/web-9", "bin/ipamsim", "import", "dump.yaml", "--out", "cluster.yaml")
	run("new since the dump: nothing", "bin/ipamsim", "run", "cluster.yaml")
	run("import without --anonymise", "bin/ipamsim", "import", "dump.yaml", "--anonymise")
}

// replays has the program replay what a search found.
func replays(t *testing.T, dir string, run func(want string, args ...string) time.Duration, search string) {
	t.Helper()
	findings, err := filepath.Glob(filepath.Join(dir, "findings", search, "*.yaml"))
	if err != nil || len(findings) == 0 {
		t.Fatalf("no findings: %v", err)
	}
	run("reproduced as recorded", append([]string{"bin/ipamsim", "replay"}, findings...)...)
}

// controllerRuntime is what TestInitController builds with: the release of our go.mod, for an
// older one would take ipamsim itself out of the module's requirements.
func controllerRuntime(t *testing.T) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}@{{.Version}}", "sigs.k8s.io/controller-runtime").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestInitController: a reconciler of controller-runtime runs in the simulation, with the
// options that ipamsimtest's README names, and its stale cache is found.
func TestInitController(t *testing.T) {
	const readme = "../../fuzz/ipamsimtest/README.md"
	source, err := os.ReadFile("testdata/controller/controller.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, options, _ := strings.Cut(string(source), "ctrl.Options{\n")
	options, _, _ = strings.Cut(options, "\n\t})")
	for line := range strings.Lines(options) {
		if !strings.Contains(string(doc), strings.TrimSpace(line)) {
			t.Errorf("%s: no line %s", readme, strings.TrimSpace(line))
		}
	}
	if !*initFlag {
		t.Skip("SKIPPED: builds all of Kubernetes: make init-test")
	}
	dir := written(t)
	for from, to := range map[string]string{
		"controller.go.txt": "simulation/controller.go", "controller_test.go.txt": "simulation/controller_test.go", "controlled.yaml": "scenarios/controlled.yaml",
	} {
		text, err := os.ReadFile(filepath.Join("testdata/controller", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	module := controllerRuntime(t)
	get := exec.Command("go", "get", module)
	get.Dir, get.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := get.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no %s here: %s", module, out)
	}
	run := runIn(t, dir)
	for _, test := range []string{"TestControllerConform", "TestControllerRuns", "TestControllerStaleCache"} {
		run("--- PASS: "+test+" ", "go", "run", "ipamsim/cmd/hermetic", "go", "test", "-v", "-run", "^"+test+"$", "./simulation")
	}
}

// TestLinksNoManager: who builds a program or a test of their own does not link Calico
// and Whereabouts.
func TestLinksNoManager(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "ipamsim/cmd/cli", "ipamsim/fuzz/ipamsimtest").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		for _, upstream := range []string{"github.com/projectcalico/", "github.com/k8snetworkplumbingwg/whereabouts", "ipamsim/sim/ipam/calico", "ipamsim/sim/ipam/whereabouts"} {
			if strings.HasPrefix(p, upstream) {
				t.Errorf("links %s", p)
			}
		}
	}
}
