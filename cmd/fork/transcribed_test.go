package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// part is a copy of those packages of a module that we copy, whose functions we call by name or
// transcribe, or that show its shape, with its go.mod: everything that is checked before
// compilation.
func part(t *testing.T, module string) string {
	t.Helper()
	links, err := linknames("sim/ipam")
	if err != nil {
		t.Fatal(err)
	}
	all, err := transcriptions()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []string
	for _, l := range links {
		pkgs = append(pkgs, l.pkg)
	}
	for _, tr := range all {
		pkgs = append(pkgs, tr.pkg)
	}
	tables, err := allCopies()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range tables {
		pkgs = slices.AppendSeq(pkgs, maps.Keys(c.folders))
		pkgs = slices.AppendSeq(pkgs, maps.Keys(c.elsewhere))
		pkgs = slices.AppendSeq(pkgs, maps.Keys(c.lacks))
	}
	slices.Sort(pkgs)
	from, to := release(t, module), t.TempDir()
	files := []string{from + "/go.mod"}
	for _, c := range tables {
		if c.module == module {
			for _, theirs := range c.files {
				files = append(files, filepath.Join(from, theirs))
			}
		}
	}
	for _, pkg := range slices.Compact(pkgs) {
		if inside, ok := strings.CutPrefix(pkg, module+"/"); ok {
			more, _ := filepath.Glob(filepath.Join(from, inside, "*.go"))
			files = append(files, more...)
			if err := os.MkdirAll(filepath.Join(to, inside), 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, f := range files {
		inside, err := filepath.Rel(from, f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, inside)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, inside), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestTranscribed: a build goes on with the releases of go.mod, and stops at a fork
// in which a function that we transcribe is another one, by its name.
func TestTranscribed(t *testing.T) {
	clone(t)
	if path, err := run(nil, "", false, false); path != "" || err != nil {
		t.Errorf("the releases of go.mod: %q, %v", path, err)
	}
	const main = "cmd/controlloop/controlloop.go"
	const startup = "node/pkg/lifecycle/startup/startup.go"
	for _, c := range []struct {
		name, module string
		edit         func(t *testing.T, dir string)
		want         []string // of the error; none: no error
	}{
		{"nothing moved", calico, func(*testing.T, string) {}, nil},
		{"other comments and lines", whereabouts, func(t *testing.T, dir string) {
			edit(t, dir+"/"+main, "\tdefer networkController.Shutdown()\n", "\t// At the end.\n\n\n\tdefer networkController.Shutdown() // now\n")
		}, nil},
		{"another step", whereabouts, func(t *testing.T, dir string) {
			edit(t, dir+"/"+main, "\tdefer networkController.Shutdown()\n", "")
		}, []string{"/" + main + ":", "main has changed", "sim/ipam/whereabouts/podcontrolloop.go:(*instance).podControlLoop", "write ", " in sim/ipam/whereabouts/transcribed.txt:"}},
		{"another word", calico, func(t *testing.T, dir string) {
			edit(t, dir+"/"+startup, "{{NodeName: nodeRef, Orchestrator: orchestrator}}", "{{NodeName: nodeRef, Orchestrator: orchestrator + nodeRef}}")
		}, []string{"/" + startup + ":", "configureNodeRef has changed", "sim/ipam/calico/caliconode.go:calicoNode"}},
		{"gone", calico, func(t *testing.T, dir string) {
			edit(t, dir+"/"+startup, "\nfunc configureNodeRef(", "\nfunc setNodeRef(")
		}, []string{"node/pkg/lifecycle/startup: no configureNodeRef, which ipamsim transcribes (sim/ipam/calico/caliconode.go:calicoNode)", "fix sim/ipam/calico/transcribed.txt:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := part(t, c.module)
			c.edit(t, dir)
			err := transcribed(map[string]string{c.module: dir})
			if c.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, err = run([]string{dir}, "", false, false); err == nil { // what a build with FORK= begins with
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

// TestTranscribedTable: a line of ours that names nothing is an error, too.
func TestTranscribedTable(t *testing.T) {
	clone(t)
	tr := transcription{"x.txt:7", "sim/ipam/calico/tunnel.go:registred", calico + "/node/pkg/allocateip", "run", []string{""}}
	want := "x.txt:7: no function registred in sim/ipam/calico/tunnel.go; fix the line"
	if err := tr.check(filepath.Join(release(t, calico), "node/pkg/allocateip")); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if all, err := transcriptions(); err != nil || len(all) < 20 {
		t.Errorf("%d transcriptions, %v", len(all), err)
	}
}
