package live_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"ipamsim/reports/golden"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/live"
)

// manifest is the objects of CronJob, decoded as strictly as kubectl apply
// --validate=strict does.
func manifest(t *testing.T) (out []runtime.Object) {
	t.Helper()
	decoder := serializer.NewCodecFactory(clientgoscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	docs := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(live.CronJob())))
	for {
		buf := make([]byte, 1<<20)
		n, err := docs.Read(buf)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := decoder.Decode(buf[:n], nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, buf[:n])
		}
		out = append(out, o)
	}
}

// the object of a type that the manifest has one of.
func the[T runtime.Object](t *testing.T) T {
	t.Helper()
	var found []T
	for _, o := range manifest(t) {
		if x, ok := o.(T); ok {
			found = append(found, x)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d of %T", len(found), *new(T))
	}
	return found[0]
}

func TestCronJob(t *testing.T) {
	golden.Check(t, "testdata/cronjob.yaml", live.CronJob())
	if n := len(manifest(t)); n != 7 {
		t.Errorf("%d objects, want 7", n)
	}
	job, account := the[*batchv1.CronJob](t), the[*corev1.ServiceAccount](t)
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	if pod.ServiceAccountName != account.Name || job.Namespace != account.Namespace {
		t.Errorf("the job runs as %s in %s, the account is %s in %s", pod.ServiceAccountName, job.Namespace, account.Name, account.Namespace)
	}
	binding, role := the[*rbacv1.ClusterRoleBinding](t), the[*rbacv1.ClusterRole](t)
	if binding.RoleRef.Name != role.Name || binding.Subjects[0].Name != account.Name || binding.Subjects[0].Namespace != account.Namespace {
		t.Errorf("bound is %+v to %+v", binding.RoleRef, binding.Subjects)
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("no volume %s", m.Name)
		}
	}
}

// An API server that allows what the ClusterRole of the manifest allows, and nothing
// else, is read as one that allows everything: nothing is refused, and no right is there
// that is not used.
func TestClusterRoleIsEnoughAndNoMore(t *testing.T) {
	s := serve(t)
	wikimedia(t, s, 0)
	s.groups = append(s.groups, "projectcalico.org")
	want, err := read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	role := the[*rbacv1.ClusterRole](t)
	used := map[string]bool{}
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		group, resource, name, ok := listed(r)
		switch {
		case !ok:
			return false
		case allowed(role, group, resource, name):
			used[group+"/"+resource] = true
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	got, err := inCluster(t, s)
	if err != nil {
		t.Fatal(err)
	}
	wantText, _ := scenario(t, want)
	gotText, rep := scenario(t, got)
	if !bytes.Equal(wantText, gotText) {
		t.Errorf("the scenario is another one; unknown: %q", rep.Unknown)
	}
	// A second time as a cluster in which Calico's own API server has the objects alone.
	s.groups = slices.DeleteFunc(s.groups, func(g string) bool { return g == "crd.projectcalico.org" })
	if _, err := inCluster(t, s); err != nil {
		t.Fatal(err)
	}
	for _, rule := range role.Rules {
		if !slices.Equal(rule.Verbs, []string{"get", "list"}) || len(rule.APIGroups) != 1 || len(rule.NonResourceURLs) > 0 {
			t.Errorf("%+v", rule)
		}
		for _, resource := range rule.Resources {
			if !used[rule.APIGroups[0]+"/"+resource] {
				t.Errorf("the role allows %s of %q, which nobody reads", resource, rule.APIGroups[0])
			}
		}
	}
}

// listed is what a request lists, of objects of one name if name is not empty; ok is false
// for discovery.
func listed(r *http.Request) (group, resource, name string, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if n := len(parts); n > 3 && parts[n-3] == "namespaces" {
		parts = append(parts[:n-3:n-3], parts[n-1])
	}
	name, _ = strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	switch {
	case len(parts) == 3 && parts[0] == "api":
		return "", parts[2], name, true
	case len(parts) == 4 && parts[0] == "apis":
		return parts[1], parts[3], name, true
	}
	return "", "", "", false
}

// allowed is as Kubernetes authorizes: a list with a field selector for one name is of that
// name.
func allowed(role *rbacv1.ClusterRole, group, resource, name string) bool {
	return slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, "list") &&
			(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name))
	})
}

// inCluster reads with the kubeconfig of the manifest, as from inside a pod.
func inCluster(t *testing.T, s *server) (*dump.Cluster, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]byte{
		"token": []byte(token), "ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.tls.Certificate().Raw}),
	}
	text := the[*corev1.ConfigMap](t).Data["kubeconfig"]
	const in = "/var/run/secrets/kubernetes.io/serviceaccount/"
	for name := range files {
		if !strings.Contains(text, in+name) {
			t.Fatalf("the kubeconfig does not name %s", in+name)
		}
	}
	text = strings.ReplaceAll(text, in, dir+"/")
	text = strings.Replace(text, "https://kubernetes.default.svc", s.tls.URL, 1)
	files["kubeconfig"] = []byte(text)
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := live.Open(filepath.Join(dir, "kubeconfig"), "")
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	c := dump.New()
	return c, l.Read(t.Context(), c, nil)
}
