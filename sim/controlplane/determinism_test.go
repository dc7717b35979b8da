package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

// everything is a world with work for each of the controllers.
func everything(t testing.TB) string {
	all := strings.Join([]string{
		strings.Replace(web, "replicas: 4", "replicas: 12", 1),
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: team}",
		strings.Replace(web, "name: web}", "name: web, namespace: team}", 1),
		pinned("x", "a", "30"),
		`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {replicas: 3, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: i}]}}}`,
		`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: i}]}}}`,
		`
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec: {schedule: "*/2 * * * *", jobTemplate: {spec: {backoffLimit: 1, ttlSecondsAfterFinished: 60, template: {spec: {restartPolicy: Never, containers: [{name: c, image: fail}]}}}}}`,
		`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}`,
		`
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: team}
spec: {hard: {pods: "3", count/deployments.apps: "5"}}`,
	}, "\n---\n")
	_, trace, digest := live(t, 12*time.Minute, all, func(ctx context.Context, w *world) {
		time.Sleep(time.Minute)
		w.silent["a"] = true
		time.Sleep(2 * time.Minute)
		must(w.AppsV1().Deployments("default").Patch(ctx, "web", types.StrategicMergePatchType,
			[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"new"}]}}}}`), metav1.PatchOptions{}))
		time.Sleep(time.Minute)
		check(w.CoreV1().Namespaces().Delete(ctx, "team", metav1.DeleteOptions{}))
		time.Sleep(4 * time.Minute)
		check(w.AppsV1().Deployments("default").Delete(ctx, "web", metav1.DeleteOptions{}))
		w.silent["a"] = false
		w.ready("a")
	})
	return fmt.Sprintf("%d steps, %016x, %.12s", len(trace.Steps), trace.Digest(), digest)
}

const childVariable = "IPAMSIM_CONTROLPLANE_CHILD"

// A run is a function of its seed, in every process.
func TestDeterminism(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("NOT TESTED: this is the stock runtime, on which a seed does not repeat; use: make test")
	}
	runs := 4
	if os.Getenv(childVariable) != "" {
		runs = 2
	}
	want := everything(t)
	for range runs - 1 {
		if got := everything(t); got != want {
			t.Errorf("one process: %s, before %s", got, want)
		}
	}
	if os.Getenv(childVariable) != "" {
		fmt.Println("child:", want)
		return
	}
	for n := range 2 {
		c := exec.Command(os.Args[0], "-test.run", "^TestDeterminism$")
		c.Env = append(os.Environ(), childVariable+"=1", fmt.Sprintf("GOGC=%d", 50+100*n))
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "child: "+want) {
			t.Errorf("process %d: %v\n%s\nwant %s", n, err, out, want)
		}
	}
	t.Log(want)
}
