package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/sim/gomod"
)

// release is the folder of a module as the build has it.
func release(t *testing.T, path string) string {
	t.Helper()
	out, err := command("list", "-m", "-f", "{{.Dir}}", path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(out))
}

// copied is a copy of a module's folder, which may be written to.
func copied(t *testing.T, from, to string) string {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.Walk(to, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o700)
	}); err != nil {
		t.Fatal(err)
	}
	return to
}

// edit replaces text of a file that must be there exactly once: a patch that no
// longer fits is not a patch that changes nothing.
func edit(t *testing.T, file, old, text string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), old); n != 1 {
		t.Fatalf("%s: text found %d times, want once: move the patch to where the code went:\n%s", file, n, old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(b), old, text, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// clone changes into the top of our module, and removes what is made there.
func clone(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
	before, err := filepath.Glob(forks + "/*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		after, _ := filepath.Glob(forks + "/*")
		for _, f := range after {
			if !bytes.Contains([]byte(strings.Join(before, "\n")), []byte(f)) {
				os.RemoveAll(f)
			}
		}
	})
}

// TestFork: a folder stands in the place of the release, and in the clone nothing
// is changed.
func TestFork(t *testing.T) {
	clone(t)
	dir := copied(t, release(t, whereabouts), t.TempDir()+"/my-whereabouts")
	before, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	path, err := run([]string{dir}, "", false, false)
	if err != nil {
		t.Fatal(err)
	}
	out, err := command("list", "-modfile="+path, "-m", whereabouts)
	if want := whereabouts + " v0.9.4 => " + dir; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, want %s (%v)", out, want, err)
	}
	if after, _ := os.ReadFile("go.mod"); !bytes.Equal(before, after) {
		t.Error("go.mod was changed")
	}
	// Again: the same name, so that what was built with it is still good.
	if again, err := run([]string{dir}, "", false, false); err != nil || again != path {
		t.Error(again, err)
	}
}

// TestForkBringsItsOwn: the modules that Calico's repository takes from its own
// folders come from the fork, too.
func TestForkBringsItsOwn(t *testing.T) {
	clone(t)
	dir := t.TempDir() + "/calico"
	for _, nested := range []string{"api", "calico/lib/std"} {
		path := "github.com/projectcalico/" + nested
		copied(t, release(t, path), filepath.Join(dir, strings.TrimPrefix(nested, "calico/")))
	}
	if err := os.WriteFile(dir+"/go.mod", []byte(`module github.com/projectcalico/calico

go 1.25.3

replace (
	github.com/projectcalico/api => ./api
	github.com/projectcalico/calico/lib/httpmachinery => ./lib/httpmachinery
	github.com/projectcalico/calico/lib/std => ./lib/std
	k8s.io/api => k8s.io/api v0.33.5
)
`), 0o666); err != nil {
		t.Fatal(err)
	}
	ours, err := gomod.Read("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(dir, ours)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"github.com/projectcalico/calico":         dir,
		"github.com/projectcalico/api":            dir + "/api",
		"github.com/projectcalico/calico/lib/std": dir + "/lib/std",
	}
	if len(f.replaces) != len(want) {
		t.Errorf("%v, want %v", f.replaces, want)
	}
	for path, dir := range want {
		if f.replaces[path] != dir {
			t.Errorf("%s from %q, want %q", path, f.replaces[path], dir)
		}
	}
}

// TestForkOfKubernetes: the go.mod of a release names folders that its zip has not. What is
// built in of those modules stays.
func TestForkOfKubernetes(t *testing.T) {
	clone(t)
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join(release(t, kubernetesModule), "go.mod"))
	if err == nil {
		err = os.WriteFile(dir+"/go.mod", b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	ours, err := gomod.Read("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(dir, ours)
	if err != nil || len(f.replaces) != 1 || f.replaces[kubernetesModule] != dir {
		t.Errorf("%+v %v", f, err)
	}
}

const (
	whereabouts = "github.com/k8snetworkplumbingwg/whereabouts"
	calico      = "github.com/projectcalico/calico"
)

// modules are those that packages or files are generated of.
func modules(t *testing.T) []string {
	t.Helper()
	forks, others, err := upstreams()
	if err != nil {
		t.Fatal(err)
	}
	return append(forks, others...)
}

// fresh is a new machine: its module cache is empty, and nothing can be had but the
// releases.
func fresh(t *testing.T) {
	t.Helper()
	cache, err := command("env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	proxy, empty := t.TempDir(), t.TempDir()
	for _, path := range append(modules(t), kubernetes...) {
		inside := filepath.Join(path, "@v")
		if err := os.CopyFS(filepath.Join(proxy, inside), os.DirFS(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download", inside))); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOMODCACHE", empty)
	t.Cleanup(func() {
		if _, err := command("clean", "-modcache"); err != nil { // it is read-only
			t.Error(err)
		}
	})
}

// TestForkRefused checks that invalid forks are reported before anything is compiled, with what to do.
func TestForkRefused(t *testing.T) {
	clone(t)
	original := release(t, whereabouts)
	fresh(t)
	const controller = "cmd/controlloop/controlloop.go"
	const head = "func newPodController("
	for _, c := range []struct {
		name string
		edit func(t *testing.T, dir string)
		want []string // of the error
	}{
		{"no go.mod", func(t *testing.T, dir string) {
			if err := os.Remove(dir + "/go.mod"); err != nil {
				t.Fatal(err)
			}
		}, []string{"go.mod: no such file; want the folder of a fork"}},
		{"another module", func(t *testing.T, dir string) {
			edit(t, dir+"/go.mod", "module "+whereabouts, "module example.org/whereabouts")
		}, []string{`go.mod: module "example.org/whereabouts"`, "want a fork of", whereabouts}},
		{"a newer Go", func(t *testing.T, dir string) {
			edit(t, dir+"/go.mod", "\ngo 1.25.5\n", "\ngo 1.99.0\n")
		}, []string{"ipamsim cannot be built with", "requires go >= 1.99.0 (running go 1."}},
		{"a dependency that is nowhere", func(t *testing.T, dir string) {
			edit(t, dir+"/go.mod", "golang.org/x/time v0.14.0", "golang.org/x/time v0.14999.0")
		}, []string{"ipamsim cannot be built with", "golang.org/x/time"}},
		{"a function that ipamsim calls by name is gone", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, controller), head, "func makePodController(")
		}, []string{"cmd/controlloop: no newPodController, which ipamsim calls (sim/ipam/whereabouts/podcontrolloop.go:"}},
		{"it takes something else", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, controller), head, head+"first int, ")
		}, []string{controller + ":", "newPodController is now func(int, ", "and ipamsim calls it as func("}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copied(t, original, t.TempDir()+"/whereabouts")
			c.edit(t, dir)
			_, err := run([]string{dir}, "", false, false)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %q in it", err, want)
				}
			}
		})
	}
}

// TestForkMayRename: another name for a package, for a parameter or for any makes
// no other function.
func TestForkMayRename(t *testing.T) {
	write := func(text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/x.go", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	a, _, err := signature(write("package x\nimport \"net\"\nfunc (t *T) f(a, b net.IP, c interface{}) error { return nil }\n"), "(*T).f")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := signature(write("package x\nimport other \"net\"\nfunc (*T) f(other.IP, other.IP, any) (err error) { return nil }\n"), "(*T).f")
	if err != nil {
		t.Fatal(err)
	}
	if a != b || a != "func(net.IP, net.IP, any) (error)" {
		t.Errorf("%q is not %q", a, b)
	}
}

// TestEveryLinkIsSeen: what is looked for is there in the releases; a pull that
// the reading overlooks would never be compared.
func TestEveryLinkIsSeen(t *testing.T) {
	clone(t)
	all, err := releaseLinks("sim/ipam")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("only %d links", len(all))
	}
	for _, l := range all {
		for _, module := range modules(t) {
			if inside, ok := strings.CutPrefix(l.pkg, module+"/"); ok {
				if sig, _, err := declared(filepath.Join(release(t, module), inside), l.symbol); err != nil || sig == "" {
					t.Errorf("%s: %s %s: %q %v", l.at, l.pkg, l.symbol, sig, err)
				}
			}
		}
	}
}
