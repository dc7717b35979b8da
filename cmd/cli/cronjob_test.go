package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/importing"
	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump/live"
)

// container returns the container of the manifest's job.
func container(t *testing.T) (c corev1.Container) {
	t.Helper()
	for doc := range strings.SplitSeq(live.CronJob(managers.All(), "ipamsim:test"), "\n---\n") {
		var job batchv1.CronJob
		if err := yaml.Unmarshal([]byte(doc), &job); err == nil && job.Kind == "CronJob" {
			c = job.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
		}
	}
	return c
}

// TestCronJobCommand: the command of the manifest is a command of this program.
func TestCronJobCommand(t *testing.T) {
	args := container(t).Command
	if len(args) < 3 || args[0] != "/ipamsim" || args[1] != "import" {
		t.Fatalf("it runs %q", args)
	}
	cmd := importing.Command(managers.All(), "")
	if err := cmd.ParseFlags(args[2:]); err != nil {
		t.Fatal(err)
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		t.Errorf("and reads the files %q", rest)
	}
	for _, flag := range []string{"kubeconfig", "since", "store", "openmetrics", "check-new"} {
		if !cmd.Flags().Changed(flag) {
			t.Errorf("without --%s", flag)
		}
	}
}

// TestCronJobRuns runs the command of the manifest twice as a process, with the environment
// of the container, on the simulated API server. What was wrong in the first run is not
// new in the second. That server has no IPAddresses, so that Services are not judged: exit 2.
func TestCronJobRuns(t *testing.T) {
	s, dir, job := serveRun(t, "r1-whereabouts-162", "--at", "65s"), t.TempDir(), container(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	place := strings.NewReplacer("/etc/ipamsim/kubeconfig", s.file, "/var/lib/ipamsim", dir)
	for range 2 {
		cmd := &exec.Cmd{Path: self, Args: []string{"ipamsim"}, Dir: dir}
		for _, a := range job.Command[1:] {
			cmd.Args = append(cmd.Args, place.Replace(a))
		}
		for _, e := range job.Env {
			cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
		}
		out, _ := cmd.CombinedOutput() // the exit code is compared
		for _, part := range []string{"finding: unbacked-sandbox (major)", "cannot judge leaked-service-claim"} {
			if code := cmd.ProcessState.ExitCode(); code != exit.Cannot || !strings.Contains(string(out), part) {
				t.Errorf("exit code %d, no %q in\n%s", code, part, out)
			}
		}
	}
	for file, part := range map[string]string{"last.json": `"unbacked-sandbox"`, "ipamsim.prom": "unbacked-sandbox", "cluster.yaml": "kind: Scenario"} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%s: no %s in %q, %v", file, part, text, err)
		}
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	s.wait(exit.Expected)
}
