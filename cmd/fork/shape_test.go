package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShape: a file is of a shape by its build tag, and has no tag then; packages lie
// where the fork has them; what is tagged otherwise is not ours to decide.
func TestShape(t *testing.T) {
	tags, elsewhere := map[string]bool{"old": true, "older": false}, map[string]string{"x/new": "x/was"}
	for _, c := range []struct{ in, want string }{
		{"//go:build old\n\npackage p\n", "//\n\npackage p\n"},
		{"//go:build !old\n\npackage p\n", ""},
		{"//go:build old && !older\n\npackage p\n", "//\n\npackage p\n"},
		{"//go:build !older\n\npackage p\n", "//go:build !older\n\npackage p\n"},
		{"//go:build older\n\npackage p\n", "//go:build older\n\npackage p\n"},
		{"//go:build hermetic\n\npackage p\n", "//go:build hermetic\n\npackage p\n"},
		{"//go:build !hermetic && !old\n\npackage p\n", "//go:build !hermetic && !old\n\npackage p\n"},
		{"package p\n\nimport (\n\t\"x/new\"\n\t\"x/new/a\"\n\t\"x/newer\"\n)\n", "package p\n\nimport (\n\t\"x/was\"\n\t\"x/was/a\"\n\t\"x/newer\"\n)\n"},
	} {
		got, err := shape([]byte(c.in), tags, elsewhere)
		if err != nil || string(got) != c.want {
			t.Errorf("%q: %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	if _, err := shape([]byte("//go:build (\n"), tags, nil); err == nil {
		t.Error("a constraint that cannot be read is no error")
	}
}

// TestReleaseWithoutSlices: a release that has no node slices and its clients elsewhere is
// built with our files for that, and without the copies of what it lacks.
func TestReleaseWithoutSlices(t *testing.T) {
	clone(t)
	dir := part(t, whereabouts)
	before := filepath.Join(dir, "pkg/generated")
	if err := os.Rename(before, filepath.Join(dir, "pkg/client")); err != nil {
		t.Fatal(err)
	}
	for _, lacks := range []string{"cmd/nodeslicecontroller", "pkg/node-controller", "doc/crds/whereabouts.cni.cncf.io_nodeslicepools.yaml"} {
		if err := os.RemoveAll(filepath.Join(dir, lacks)); err != nil {
			t.Fatal(err)
		}
	}
	modfile := filepath.Join(t.TempDir(), "fork.mod")
	if err := lay(modfile, "", map[string]string{whereabouts: dir}); err != nil {
		t.Fatal(err)
	}
	o, err := readOverlay(overlayFor(modfile))
	if err != nil {
		t.Fatal(err)
	}
	laid := map[string]string{}
	for path, by := range o.Replace {
		inside := path[strings.Index(path, "sim/ipam/"):]
		b, err := os.ReadFile(by)
		if by != "" && err != nil {
			t.Error(err)
		}
		laid[strings.TrimPrefix(inside, "sim/ipam/whereabouts/")] = string(b)
	}
	const client = `"github.com/k8snetworkplumbingwg/whereabouts/pkg/client/`
	for path, want := range map[string]string{
		"nodeslicecontroller.go":                                    "", // hidden
		"upstream/cmd/nodeslicecontroller/node_slice_controller.go": "",
		"upstream/pkg/node-controller/controller.go":                "",
		"upstream/crds/whereabouts.cni.cncf.io_nodeslicepools.yaml": "",
		"noslices.go":                  "//\n\npackage whereabouts\n",
		"adapter/wbclient/wbclient.go": client,
		"referencereconciler.go":       client,
		"referenceallocations.go":      client,
		"sources.go":                   client,
	} {
		got, there := laid[path]
		if !there || (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %v, %.200s", path, there, got)
		}
		delete(laid, path)
	}
	for path := range laid {
		t.Errorf("%s is another one", path)
	}
	if err := (&fork{path: whereabouts, dir: dir}).links(release(t, whereabouts)); err != nil {
		t.Errorf("what a release may lack is called by name: %v", err)
	}
	// All missing packages that every release must have are reported together.
	for _, lacks := range []string{"cmd/controlloop", "cmd/whereabouts.go"} {
		if err := os.RemoveAll(filepath.Join(dir, lacks)); err != nil {
			t.Fatal(err)
		}
	}
	err = (&fork{path: whereabouts, dir: dir}).links(release(t, whereabouts))
	for _, want := range []string{"no newPodController", "no main"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
