package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/sim/gomod"
)

// internalAPI is a part of Calico of the shape of 3.32: the types of its datastore are in
// another package.
func internalAPI(t *testing.T) string {
	t.Helper()
	dir := part(t, calico)
	apis := filepath.Join(dir, "libcalico-go/lib/apis")
	if err := os.Rename(filepath.Join(apis, "v3"), filepath.Join(apis, "internalapi")); err != nil {
		t.Fatal(err)
	}
	services := filepath.Join(dir, "node/pkg/nodeservices")
	if err := os.MkdirAll(services, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReleaseOfInternalAPI: a fork of the shape of 3.32 is built with our files for it and
// without those for the releases, and each file imports the package that the fork has.
func TestReleaseOfInternalAPI(t *testing.T) {
	clone(t)
	modfile := filepath.Join(t.TempDir(), "fork.mod")
	if err := lay(modfile, "", map[string]string{calico: internalAPI(t)}); err != nil {
		t.Fatal(err)
	}
	o, err := readOverlay(overlayFor(modfile))
	if err != nil {
		t.Fatal(err)
	}
	hidden, shown, importing := 0, 0, 0
	for path, by := range o.Replace {
		text := ""
		if by != "" {
			b, err := os.ReadFile(by)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		switch base := filepath.Base(path); {
		case base == "before332.go" && by == "":
			hidden++
		case base == "before332.go":
			t.Errorf("%s is in the build", path)
		case base == "release332.go" && strings.HasPrefix(text, "//\n\npackage "):
			shown++
		case base == "release332.go":
			t.Errorf("%s is not in the build: %q, %.40q", path, by, text)
		case strings.HasPrefix(base, "release33"):
			t.Errorf("%s has changed", path)
		}
		if strings.Contains(text, `/lib/apis/v3"`) {
			t.Errorf("%s imports a package that the fork does not have", path)
		}
		if strings.Contains(text, `/lib/apis/internalapi"`) {
			importing++
		}
	}
	if hidden < 7 || shown < 9 || importing < 10 {
		t.Errorf("%d files hidden, %d shown, %d import the other package", hidden, shown, importing)
	}
}

// TestLinksOfInternalAPI: what only our files for a shape call by name is compared with the
// table, and what the files for the releases call is not looked for.
func TestLinksOfInternalAPI(t *testing.T) {
	clone(t)
	dir := internalAPI(t)
	const source = `package resources

import "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

type blockAffinityClientV1 struct{}

func (c *blockAffinityClientV1) toCRD(kv *model.KVPair) *model.KVPair { return nil }

func (c *blockAffinityClientV1) toModelV1(kv *model.KVPair, strict bool) (*model.KVPair, error) { return nil, nil }
`
	if err := os.WriteFile(filepath.Join(dir, "libcalico-go/lib/backend/k8s/resources/planted.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	err := (&fork{path: calico, dir: dir}).links(release(t, calico))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"no updateIPAMConfig, which ipamsim calls (sim/ipam/calico/ctl/release332.go:",
		"toModelV1 is func(*github.com/projectcalico/calico/libcalico-go/lib/backend/model.KVPair, bool) (",
		"reconciler.run is func(<-chan struct{}) (): compare ours (sim/ipam/calico/tunnelservice.go:",
		"write in " + linkedTable + ": github.com/projectcalico/calico/node/pkg/allocateip.reconciler.run 6ed5fc6d82c433b8 calico332&&!calicoprocesses",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in\n%v", want, err)
		}
	}
	for _, wrong := range []string{"before332.go", "toCRD"} {
		if strings.Contains(err.Error(), wrong) {
			t.Errorf("%q in\n%v", wrong, err)
		}
	}
}

// TestHold: what a fork holds at a version stays at ours; another module in the place of one
// that ipamsim does not have is the fork's.
func TestHold(t *testing.T) {
	ours := &gomod.File{Require: []gomod.Version{{Path: "a", Version: "v1"}, {Path: "b", Version: "v1"}}}
	ours.Replace = append(ours.Replace, struct{ Old, New gomod.Version }{gomod.Version{Path: "b"}, gomod.Version{Path: "b", Version: "v0"}})
	f := &fork{held: map[string]string{}}
	for path, by := range map[string]gomod.Version{
		"a": {Path: "a", Version: "v2"}, "b": {Path: "b", Version: "v2"}, "c": {Path: "c", Version: "v2"}, "d": {Path: "d.fork", Version: "v2"},
	} {
		f.hold(path, by, ours)
	}
	if want := map[string]string{"a": "a@v1", "d": "d.fork@v2"}; !maps.Equal(f.held, want) {
		t.Errorf("%v, want %v", f.held, want)
	}
}

// TestFollowing: a module that only Calico uses has the version of a fork of Calico, and ours
// with a fork of another manager.
func TestFollowing(t *testing.T) {
	clone(t)
	const policies = "sigs.k8s.io/network-policy-api"
	ours := &gomod.File{Require: []gomod.Version{{Path: policies, Version: "v0.1.5"}, {Path: "a", Version: "v1"}}}
	for module, want := range map[string]string{calico: "-replace=a=a@v1", whereabouts: "-replace=" + policies + "=" + policies + "@v0.1.5 -replace=a=a@v1"} {
		replaced := map[string]string{module: "/fork"}
		follows, err := following(replaced)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(pins(ours, replaced, follows), " "); got != want {
			t.Errorf("%s: %s, want %s", module, got, want)
		}
	}
}

// TestAddSums: a fork's go.sum adds modules and changes none.
func TestAddSums(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go.sum")
	if got, err := addSums([]byte("a v1 h1:x=\n"), file); err != nil || string(got) != "a v1 h1:x=\n" {
		t.Errorf("without a file: %q, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("a v1 h1:other=\na v1/go.mod h1:y=\nb v1 h1:z=\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := addSums([]byte("a v1 h1:x=\n"), file); err != nil || string(got) != "a v1 h1:x=\na v1/go.mod h1:y=\nb v1 h1:z=\n" {
		t.Errorf("%q, %v", got, err)
	}
}
