package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/sim/gomod"
)

// TestNewer: a commit has no newer release, and what is not released is none.
func TestNewer(t *testing.T) {
	listed := []string{"v1.36.4", "v1.37.1", "v1.37.2", "v1.37.3", "v1.37.10", "v1.38.0-rc.1", "v1.38.0", "v1.39.0-alpha.0", "nonsense"}
	for _, c := range []struct{ here, patch, newest string }{
		{"v1.37.2", "v1.37.10", "v1.38.0"},
		{"v1.37.10", "", "v1.38.0"},
		{"v1.38.0", "", ""},
		{"v1.36.0", "v1.36.4", "v1.38.0"},
		{"v0.0.0-20251021213802-b1f3c43f8437", "", ""},
	} {
		if patch, newest := newer(c.here, listed); patch != c.patch || newest != c.newest {
			t.Errorf("newer than %s: got %q and %q, want %q and %q", c.here, patch, newest, c.patch, c.newest)
		}
	}
}

// TestEdits: what moves with a module.
func TestEdits(t *testing.T) {
	parse := func(text string) *gomod.File {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := gomod.Read(filepath.Join(dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	ours := parse(`require (
	k8s.io/kubernetes v1.37.2
	k8s.io/api v0.37.2
	k8s.io/utils v0.0.0-20260707023825-cf1189d6abe3
	go.etcd.io/etcd/server/v3 v3.7.3
	go.etcd.io/etcd/api/v3 v3.7.3
	go.etcd.io/raft/v3 v3.7.0
)
replace (
	k8s.io/api => k8s.io/api v0.37.2
	example.org/pinned => example.org/pinned v0.1.0
)`)
	theirs := parse(`require (
	k8s.io/api v0.0.0
	k8s.io/new v0.0.0
)
replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/new => ./staging/src/k8s.io/new
	k8s.io/sample => ./staging/src/k8s.io/sample
)`)
	for _, c := range []struct {
		module, version string
		want            []string
	}{
		{kubernetes, "v1.38.0", []string{"-require=k8s.io/kubernetes@v1.38.0", "-replace=k8s.io/api=k8s.io/api@v0.38.0", "-replace=k8s.io/new=k8s.io/new@v0.38.0", "-require=k8s.io/api@v0.38.0"}},
		{"go.etcd.io/etcd/server/v3", "v3.7.4", []string{"-require=go.etcd.io/etcd/server/v3@v3.7.4", "-require=go.etcd.io/etcd/api/v3@v3.7.4"}},
		{"go.universe.tf/metallb", "v0.17.0", []string{"-require=go.universe.tf/metallb@v0.17.0"}},
	} {
		if got, err := edits(ours, c.module, c.version, theirs); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s@%s:\ngot  %s\nwant %s (%v)", c.module, c.version, strings.Join(got, " "), strings.Join(c.want, " "), err)
		}
	}
	if _, err := edits(ours, kubernetes, "v2.0.0", theirs); err == nil {
		t.Error("k8s.io/kubernetes@v2.0.0: want an error")
	}
}

// TestModules: each is required by go.mod.
func TestModules(t *testing.T) {
	ours, err := gomod.Read("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if ours.Requires(m) == "" {
			t.Errorf("%s: go.mod does not require it", m)
		}
	}
}
