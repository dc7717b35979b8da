package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

// TestMain lets scripts run this binary as ipamsim.
func TestMain(m *testing.M) {
	program := func() { Main(managers.All()...) }
	testscript.Main(m, map[string]func(){"ipamsim": program, "kubectl-ipam_check": program})
}

// TestScripts: what a person or a script sees of the commands. The scenarios of
// testdata are small runs of the canary: near-miss.yaml breaks nothing,
// duplicate.yaml hands out one address twice and expects it, unexpected.yaml does
// and does not, long.yaml would take minutes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			program, err := exec.LookPath("ipamsim")
			if err != nil {
				return err
			}
			e.Setenv("PROGRAM", program)
			e.Setenv("TMPDIR", e.Getenv("WORK")+"/tmp")
			e.Setenv(scenarios.CountEnv, os.Getenv(scenarios.CountEnv))
			if err := os.Mkdir(e.Getenv("TMPDIR"), 0o777); err != nil {
				return err
			}
			dumps, err := filepath.Abs("../../scenarios/dump/testdata")
			if err != nil {
				return err
			}
			e.Setenv("DUMPS", dumps)
			if err := writeData(e.WorkDir); err != nil {
				return err
			}
			files, err := filepath.Glob("testdata/*.yaml")
			if err != nil {
				return err
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(e.WorkDir, filepath.Base(f)), b, 0o666); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "hermetic":
				return hermetic.Enabled, nil
			case "long":
				return longtest.On(), nil
			case "namespaces":
				return exec.Command("unshare", "-rm", "true").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":  code,
			"lines": lines,
		},
	})
}

// code N ipamsim …: the command must end with exit code N, and say why on one
// line of stderr if it could not run.
func code(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// lines FILE N: the file, or stdout or stderr, has N lines.
func lines(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	n := strings.Count(text, "\n")
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, want %s:\n%s", args[0], n, args[1], text)
	}
}

// TestMessageIsOneLine: whatever an error holds.
func TestMessageIsOneLine(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if c := Run([]string{"run", "no\x1b[2Jsuch\nfile.yaml"}, &stdout, &stderr, managers.All()...); c != exit.Cannot {
		t.Errorf("exit code %d, want %d", c, exit.Cannot)
	}
	if text := stderr.String(); strings.Count(text, "\n") != 1 || strings.ContainsRune(text, 0x1b) {
		t.Errorf("want one harmless line: %q", text)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout: %q", stdout.String())
	}
}
