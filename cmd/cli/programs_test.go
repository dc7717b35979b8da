package cli

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ipamsim/cmd/cli/exit"
)

var programs = flag.Bool("programs", false, "look at a paused run with a real kubectl and calicoctl, which are built first")

// built is a program: kubectl from the nested module of the oracle, calicoctl from the
// module that go.mod names.
func built(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "run", "../hermetic").Output()
	if err != nil {
		t.Skipf("SKIPPED: no %s: go run ./cmd/hermetic: %v", name, err)
	}
	flags := []string{"-overlay=" + strings.TrimSpace(string(out)), "-tags=hermetic", "-gcflags=all=-dwarf=false"} // as everything is that lies in the build cache
	if name == "kubectl" {
		cmd := exec.Command("go", append(append([]string{"run"}, flags...), "./cmd/oracle", "-build", name)...)
		cmd.Dir, cmd.Stderr = "../..", os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("SKIPPED: %s cannot be built here: %v", name, err)
		}
		return strings.TrimSpace(string(out))
	}
	dir := t.TempDir()
	for _, f := range []string{"go.mod", "go.sum"} { // its node command needs two modules more
		b, err := os.ReadFile(filepath.Join("../..", f))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags = append(flags, "-buildvcs=false", "-mod=mod", "-modfile="+filepath.Join(dir, "go.mod"), "-o", filepath.Join(dir, name))
	if out, err := exec.Command("go", append(append([]string{"build"}, flags...), "github.com/projectcalico/calico/calicoctl/calicoctl")...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: %s cannot be built here: %v: %s", name, err, out)
	}
	return filepath.Join(dir, name)
}

// TestServePrograms: what operators type works on the paused W2, and says what the run
// says. The transcript is in the log.
func TestServePrograms(t *testing.T) {
	if !*programs {
		t.Skip("SKIPPED: takes minutes to build kubectl and calicoctl; run make oracle")
	}
	tools := map[string]string{"kubectl": built(t, "kubectl"), "calicoctl": built(t, "calicoctl")}
	s := serveRun(t, "../../scenarios/w2-borrowed-from-kubestage1001.yaml", "--at", "50s")
	for _, c := range []struct {
		line string
		want []string
		code int
	}{
		{"kubectl get nodes", []string{"kubestage1001.eqiad.wmnet", "Ready"}, 0},
		{"kubectl get po -o wide --field-selector spec.nodeName=kubestage1003.eqiad.wmnet", []string{"10.64.75.0", "Running", "kubestage1003"}, 0},
		{"kubectl get blockaffinities", []string{"kubestage1001.eqiad.wmnet-10-64-75-0-26"}, 0},
		{"kubectl describe node kubestage1003.eqiad.wmnet", []string{"Non-terminated Pods:", "staging-"}, 0},
		{"kubectl describe ippool default-ipv4-ippool", []string{"10.64.75.0/24"}, 0},
		{"kubectl explain ippools.spec.blockSize", []string{"FIELD: blockSize <integer>"}, 0},
		{"kubectl explain pod.spec.nodeName", []string{"FIELD: nodeName <string>"}, 0},
		{"kubectl api-resources --api-group=crd.projectcalico.org", []string{"ipamblocks"}, 0},
		{"kubectl version", []string{"Server Version: v1.37.2"}, 0},
		{"kubectl delete node kubestage1001.eqiad.wmnet", []string{"Forbidden", "read-only"}, 1},
		{"calicoctl ipam show --show-blocks", []string{"10.64.75.0/24", "10.64.75.0/26"}, 0},
		{"calicoctl ipam show --show-borrowed", []string{"10.64.75.0", "kubestage1003"}, 0},
		{"calicoctl ipam check", []string{"Found 0 IPs that are allocated in IPAM but not actually in use.", "Check complete; found 0 problems."}, 0},
	} {
		argv := strings.Fields(c.line)
		cmd := exec.Command(tools[argv[0]], argv[1:]...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+s.file, "DATASTORE_TYPE=kubernetes", "HOME="+t.TempDir())
		out, _ := cmd.CombinedOutput()
		t.Logf("$ %s\n%s", c.line, out)
		if got := cmd.ProcessState.ExitCode(); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.line, got, c.code)
		}
		for _, w := range c.want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s does not say %q", c.line, w)
			}
		}
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	s.wait(exit.Expected)
}
