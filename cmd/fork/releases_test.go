package main

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/model"
)

var releases = flag.Bool("releases", false, "build ipamsim of older releases, and run scenarios with them (make releases: ten minutes)")

// TestReleases checks that a release of another shape is built with the documented command, runs the features that it
// has, and reports the missing ones.
func TestReleases(t *testing.T) {
	if !*releases {
		t.Skip("SKIP: takes ten minutes; make releases")
	}
	clone(t)
	for _, c := range []struct{ release, runs, lacks, refused string }{
		{"whereabouts@v0.7.0", "ok-reconciler-frees", "ok-node-slice", ""},
		{"whereabouts@v0.8.0", "ok-reconciler-frees", "ok-node-slice", ""},
		{"whereabouts@v0.9.0", "ok-node-slice", "", ""},
		// 3.30.1: a feed without pools would never be in sync.
		{"calico@v0.0.0-20250529224300-393b14e729a6", "", "", "no (*watcherCache).markInstalled"},
	} {
		t.Run(c.release, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "ipamsim")
			out, err := exec.Command("make", "build", "PINNED=1", "FORK="+c.release, "BIN="+binary).CombinedOutput()
			if c.refused != "" {
				if err == nil || !strings.Contains(string(out), c.refused) {
					t.Errorf("%v, want %s\n%s", err, c.refused, out)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err = exec.Command(binary, "run", "scenarios/"+c.runs+".yaml", "--other-upstream").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "pass") {
				t.Errorf("%v\n%s", err, out)
			}
			if c.lacks == "" {
				return
			}
			refused := exec.Command(binary, "run", "scenarios/"+c.lacks+".yaml", "--other-upstream")
			out, _ = refused.CombinedOutput()
			if code := refused.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out), model.NotInRelease) {
				t.Errorf("exit %d, want 2\n%s", code, out)
			}
		})
	}
}
