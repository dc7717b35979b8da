package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/managers"
	"ipamsim/sim/attach"
	"ipamsim/sim/hermetic"
)

// served is a program that serves the cluster of a run.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	file   string // the kubeconfig
	conf   *rest.Config
	client kubernetes.Interface
	stderr bytes.Buffer
}

// serveRun starts ipamsim serve and waits until the run stands still.
func serveRun(t *testing.T, args ...string) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, cmd: &exec.Cmd{Path: self, Args: append([]string{"ipamsim", "serve"}, args...)}}
	s.cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	file, ok := strings.CutPrefix(strings.TrimSpace(line), "export KUBECONFIG=")
	if !ok {
		t.Fatalf("printed %q", line)
	}
	s.file = file
	if s.conf, err = clientcmd.BuildConfigFromFlags("", file); err != nil {
		t.Fatal(err)
	}
	s.conf.QPS = -1
	if s.client, err = kubernetes.NewForConfig(s.conf); err != nil {
		t.Fatal(err)
	}
	return s
}

// wait is for the end of the program.
func (s *served) wait(want int) {
	s.t.Helper()
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		s.t.Errorf("exit code %d, want %d: %s", got, want, s.stderr.String())
	}
	if _, err := os.Stat(filepath.Dir(s.file)); err == nil {
		s.t.Error("the folder of the kubeconfig is left behind")
	}
}

func (s *served) pods() string {
	s.t.Helper()
	l, err := s.client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for i := range l.Items {
		all = append(all, l.Items[i].Name+" "+string(l.Items[i].Status.Phase)+" "+l.Items[i].ResourceVersion)
	}
	return strings.Join(all, "\n")
}

// TestServe: a cluster that stands still can be read, and nothing else.
func TestServe(t *testing.T) {
	s, ctx := serveRun(t, "testdata/near-miss.yaml"), context.Background()
	if info, err := os.Stat(s.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig is %v, %v", info, err)
	}
	before := s.pods()
	if before == "" {
		t.Error("no pods")
	}
	lists, err := s.client.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	short := map[string]bool{}
	for _, l := range lists {
		for _, r := range l.APIResources {
			for _, n := range r.ShortNames {
				short[n+" "+r.Name] = true
			}
		}
	}
	for _, want := range []string{"po pods", "no nodes", "deploy deployments", "net-attach-def network-attachment-definitions"} {
		if !short[want] {
			t.Errorf("no short name %s in discovery", want)
		}
	}
	if _, err := s.client.Discovery().OpenAPIV3().Paths(); err != nil {
		t.Errorf("OpenAPI: %v", err)
	}
	_, err = s.client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a write: %v", err)
	}
	if _, err := attach.Step(ctx, s.file, 1); err == nil || !strings.Contains(err.Error(), "--hold") {
		t.Errorf("a step without --hold: %v", err)
	}
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if resp, err := stranger.Get(s.conf.Host + "/api/v1/pods"); err == nil {
		t.Errorf("a client without the certificate is answered %s", resp.Status)
	}
	time.Sleep(20 * time.Millisecond)
	if after := s.pods(); after != before {
		t.Errorf("it did not stand still: %s, then %s", before, after)
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	s.wait(exit.Expected)
}

// TestServeHold checks that the run continues step by step, that watches receive the changes, and
// that reads between the steps do not change it.
func TestServeHold(t *testing.T) {
	s, ctx := serveRun(t, "testdata/near-miss.yaml", "--hold"), context.Background()
	steps := 0
	for n := 1; ; n++ {
		where, err := attach.Step(ctx, s.file, 1)
		if err != nil {
			if !strings.Contains(err.Error(), "over") && !strings.Contains(err.Error(), "EOF") {
				t.Error(err)
			}
			break
		}
		if _, err := fmt.Sscanf(where, "step %d of", &steps); err != nil || steps != n+1 {
			t.Fatalf("after %d steps it is at %q", n, where)
		}
		if n%5 == 0 {
			s.pods()
		}
	}
	if steps < 20 {
		t.Errorf("%d steps only", steps)
	}
	s.wait(exit.Expected)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: runs repeat on the hermetic runtime only; run make test")
	}
	if !strings.Contains(s.stderr.String(), "the run is the same as without clients") {
		t.Errorf("looking has changed the run: %s", s.stderr.String())
	}
}

// TestServeWatch: an event of a watch arrives with the step that makes it.
func TestServeWatch(t *testing.T) {
	s, ctx := serveRun(t, "testdata/near-miss.yaml", "--hold"), context.Background()
	w, err := s.client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	heard := 0
	for n := 0; n < 200 && heard == 0; n++ {
		if _, err := attach.Step(ctx, s.file, 1); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-w.ResultChan():
			if _, ok := e.Object.(*corev1.Pod); !ok {
				t.Fatalf("heard %v", e)
			}
			heard++
		case <-time.After(10 * time.Millisecond):
		}
	}
	if heard == 0 {
		t.Error("the watch heard nothing")
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	s.wait(exit.Expected)
}

func TestServeRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"":              "want one scenario or finding",
		"a.yaml b.yaml": "want one scenario or finding",
		"testdata/near-miss.yaml --at 1m --step 2": "--at and --step exclude each other",
		"testdata/near-miss.yaml --step 0":         "--step: want the number of a step, from 1 on, have 0",
		"testdata/near-miss.yaml --step 999999":    "--step: the run has ",
		"testdata/near-miss.yaml --at 1ns":         "--at: nothing happens until ",
		"testdata/near-miss.yaml --datastore x":    "--datastore: unknown datastore \"x\"",
		"testdata/near-miss.yaml --strategy x":     "--strategy: ",
	} {
		var stdout, stderr bytes.Buffer
		code := Run(append([]string{"serve"}, strings.Fields(args)...), &stdout, &stderr, managers.All()...)
		if code != exit.Cannot || strings.Count(stderr.String(), "\n") != 1 || !strings.HasPrefix(stderr.String(), "ipamsim: "+want) {
			t.Errorf("serve %s: exit code %d, %q; want %q", args, code, stderr.String(), want)
		}
	}
	t.Setenv("KUBECONFIG", "")
	var stdout, stderr bytes.Buffer
	if code := Run([]string{"step"}, &stdout, &stderr); code != exit.Cannot || !strings.Contains(stderr.String(), "--kubeconfig: want the file") {
		t.Errorf("step: exit code %d, %q", code, stderr.String())
	}
}
