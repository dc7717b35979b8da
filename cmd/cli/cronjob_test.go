package cli

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/cmd/cli/importing"
	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump/live"
)

// The command of the manifest is one that this program takes.
func TestCronJobCommand(t *testing.T) {
	var args []string
	for doc := range strings.SplitSeq(live.CronJob(managers.All()), "\n---\n") {
		var job batchv1.CronJob
		if err := yaml.Unmarshal([]byte(doc), &job); err == nil && job.Kind == "CronJob" {
			args = job.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Command
		}
	}
	if len(args) < 3 || args[0] != "/ipamsim" || args[1] != "import" {
		t.Fatalf("it runs %q", args)
	}
	cmd := importing.Command(managers.All())
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
