package calico_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/kube"
	"ipamsim/sim/kube/front"
)

var suite = flag.Bool("suite", false, "run upstream's own suite of IPAM on the simulator's API server")

// suiteSpecs is how many specs of the suite there are for the Kubernetes datastore, without
// those that measure.
const suiteSpecs = 114

// TestUpstreamSuite: libcalico-go's own tests of IPAM pass on the simulator's API server as they do
// on kube-apiserver. Their source is upstream's, from the module cache, in a copy in which the path
// of the kubeconfig is replaced.
func TestUpstreamSuite(t *testing.T) {
	if !*suite {
		t.Skip("SKIPPED: takes minutes to build upstream's tests; run make oracle")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "kubeconfig")
	here := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: %q}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\ncurrent-context: a\n", loopback(t))
	program := filepath.Join(dir, "ipam.test")
	if err := buildSuite(dir, file, program); err != nil {
		t.Skipf("SKIPPED: upstream's suite cannot be built here: %v", err)
	}
	t.Run("simulator", func(t *testing.T) { runSuite(t, program, file, []byte(here)) })
	t.Run("kube-apiserver", func(t *testing.T) { runSuite(t, program, file, upstreamServer(t)) })
}

// runSuite runs the suite on the API server of a kubeconfig.
func runSuite(t *testing.T, program, file string, kubeconfig []byte) {
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-ginkgo.focus=kubernetes backend", "-ginkgo.skipMeasurements", "-ginkgo.noColor", "-test.timeout=30m")
	cmd.Dir = filepath.Dir(program)
	out, err := cmd.CombinedOutput()
	m := regexp.MustCompile(`(\d+) Passed \| (\d+) Failed`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no result: %v: %s", err, tail(out))
	}
	t.Logf("%s passed, %s failed", m[1], m[2])
	if got := string(m[1]); got != fmt.Sprint(suiteSpecs) || string(m[2]) != "0" {
		t.Errorf("%s passed and %s failed, want %d and 0: %s", m[1], m[2], suiteSpecs, tail(out))
	}
}

// upstreamServer is the kubeconfig of a kube-apiserver, which stops with the test.
func upstreamServer(t *testing.T) []byte {
	args := []string{"run"}
	if overlay, err := exec.Command("go", "run", "../../../cmd/hermetic").Output(); err == nil { // as what lies in the build cache
		args = append(args, "-overlay="+strings.TrimSpace(string(overlay)), "-tags=hermetic", "-gcflags=all=-dwarf=false")
	}
	cmd := exec.Command("go", append(args, "./cmd/oracle", "-serve", "calico")...)
	cmd.Dir, cmd.Stderr = "../../..", os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Skipf("SKIPPED: kube-apiserver cannot be built here: %v", err)
	}
	b, err := os.ReadFile(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }

// buildSuite builds upstream's tests from a copy of the module, with all other modules as in
// go.mod.
func buildSuite(dir, kubeconfig, program string) error {
	const module = "github.com/projectcalico/calico"
	top, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	goIn := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = top
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("go %s: %w: %s", args[0], err, tail(stderr.Bytes()))
		}
		return bytes.TrimSpace(out), err
	}
	from, err := goIn("list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	copied := filepath.Join(dir, "calico")
	if err := os.CopyFS(copied, os.DirFS(string(from))); err != nil {
		return err
	}
	constants := filepath.Join(copied, "libcalico-go/lib/testutils/e2e_describe.go")
	b, err := os.ReadFile(constants)
	if err != nil {
		return err
	}
	if bytes.Count(b, []byte(`"/kubeconfig.yaml"`)) != 1 {
		return fmt.Errorf("%s does not name /kubeconfig.yaml once", constants)
	}
	if err := os.Chmod(constants, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(constants, bytes.Replace(b, []byte("/kubeconfig.yaml"), []byte(kubeconfig), 1), 0o600); err != nil {
		return err
	}
	mod := filepath.Join(dir, "go.mod")
	for name, to := range map[string]string{"go.mod": mod, "go.sum": filepath.Join(dir, "go.sum")} {
		b, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			return err
		}
	}
	if _, err := goIn("mod", "edit", "-replace="+module+"="+copied, mod); err != nil {
		return err
	}
	args := []string{"test", "-c", "-vet=off", "-mod=mod", "-modfile=" + mod, "-o", program}
	if overlay, err := goIn("run", "./cmd/hermetic"); err == nil { // as what lies in the build cache
		args = append(args, "-overlay="+string(overlay), "-tags=hermetic", "-gcflags=all=-dwarf=false")
	}
	_, err = goIn(append(args, module+"/libcalico-go/lib/ipam")...)
	return err
}

// loopback serves the simulator's API server in real time.
func loopback(t *testing.T) string {
	store := etcd.New("")
	run := store.BeginMemory()
	crds, err := calico.New().Definitions()
	if err != nil {
		t.Fatal(err)
	}
	s, err := kube.New(run, crds)
	if err != nil {
		t.Fatal(err)
	}
	served, err := s.Served()
	if err != nil {
		t.Fatal(err)
	}
	h := &realTime{run: run, to: s.Direct(), front: front.Handler(served)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	pump, done := time.NewTicker(2*time.Millisecond), make(chan struct{})
	go func() {
		for {
			select {
			case <-pump.C:
				h.mu.Lock()
				run.Pump()
				h.mu.Unlock()
			case <-done:
				return
			}
		}
	}()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		pump.Stop()
		close(done)
		s.Close()
		run.End()
		_ = store.Close()
	})
	return "http://" + l.Addr().String()
}

// realTime passes one request after another to a server outside of a bubble.
type realTime struct {
	mu    sync.Mutex
	run   *etcd.Run
	to    http.RoundTripper
	front http.Handler
}

func (h *realTime) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); len(f) < 3 || f[0] == "apis" && len(f) < 4 || f[0] != "api" && f[0] != "apis" {
		h.front.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := r.Clone(r.Context())
	req.URL, req.Host, req.RequestURI = &url.URL{Scheme: "http", Host: "kube.sim", Path: r.URL.Path, RawQuery: r.URL.RawQuery}, "kube.sim", ""
	req.Body = io.NopCloser(bytes.NewReader(body))
	h.mu.Lock()
	resp, err := h.to.RoundTrip(req)
	h.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for b := make([]byte, 64<<10); ; {
		n, err := resp.Body.Read(b)
		if _, bad := w.Write(b[:n]); bad != nil || err != nil {
			return
		}
		_ = flush.Flush()
	}
}
