package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/calico/lab/netns"
)

// The lab runs itself again in namespaces of its own; in a test, "itself" is the
// test binary.
func TestMain(m *testing.M) {
	if netns.Inside() {
		os.Exit(command(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// One topology for real, the central one: a borrowed address whose owner does not receive the
// borrower's route.
func TestLab(t *testing.T) {
	if _, _, err := netns.FindTools(); err != nil {
		t.Skipf("SKIPPED, nothing of the lab was tested for real: %v", err)
	}
	if _, why := netns.Probe(); why != "" {
		t.Skipf("SKIPPED, nothing of the lab was tested for real: %s", why)
	}
	code, stdout, stderr := runLab(t, "-only", "5")
	if code != exitAgreed || !strings.Contains(stdout, "lab: 1 run, 0 SKIPPED; 24 of 24 pairs agree") || stderr != "" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// runLab runs the command with its output in files, as a shell would.
func runLab(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	out, complaint := stream(t, "stdout"), stream(t, "stderr")
	code = command(ctx, args, out, complaint)
	return code, text(t, out), text(t, complaint)
}

func stream(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func text(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// If BIRD is missing, or is another version, nothing is compared: that is printed, counted, and an
// error only if the lab was requested.
func TestSkips(t *testing.T) {
	for name, c := range map[string]struct{ script, required, want string }{
		"other BIRD": {script: "#!/bin/sh\necho 'BIRD version 2.0.12'\n", want: "is not BIRD 1.6.x: BIRD version 2.0.12"},
		"required":   {script: "#!/bin/sh\necho 'BIRD version 2.0.12'\n", required: "1", want: "LAB_REQUIRED=1, and it could not run"},
		"broken":     {script: "#!/bin/sh\nexit 1\n", want: "is not BIRD 1.6.x: exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, tool := range []string{"bird", "bird6", "ip", "ping"} {
				if err := os.WriteFile(filepath.Join(dir, tool), []byte(c.script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir)
			t.Setenv(requiredVariable, c.required)
			code, stdout, stderr := runLab(t)
			wantCode := exitAgreed
			if c.required != "" {
				wantCode = exitDiffered
			}
			for _, want := range []string{"SKIP lab: ", fmt.Sprintf("lab: 0 run, %d SKIPPED\n", len(options{only: regexp.MustCompile("")}.chosen())), c.want} {
				if !strings.Contains(stdout, want) {
					t.Errorf("not said: %q\n%s", want, stdout)
				}
			}
			if code != wantCode || stderr != "" {
				t.Errorf("exit %d, want %d\n%s", code, wantCode, stderr)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-only", "("}, {"-only", "no such"}, {"-p", "0"}, {"1"}, {"-unknown"}} {
		code, stdout, stderr := runLab(t, args...)
		if code != exitCannot || stdout != "" || stderr == "" {
			t.Errorf("%q: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
