package dump_test

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

	"ipamsim/cmd/managers"
	"ipamsim/reports/golden"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/live"
)

// jobObjects is the objects of CronJob, decoded as strictly as kubectl apply
// --validate=strict does.
func jobObjects(t *testing.T) (out []runtime.Object) {
	t.Helper()
	decoder := serializer.NewCodecFactory(clientgoscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	docs := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(live.CronJob(managers.All(), "ipamsim:test"))))
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

// all objects of a type that the manifest has.
func all[T runtime.Object](t *testing.T) (found []T) {
	t.Helper()
	for _, o := range jobObjects(t) {
		if x, ok := o.(T); ok {
			found = append(found, x)
		}
	}
	return found
}

// the object of a type that the manifest has one of.
func the[T runtime.Object](t *testing.T) T {
	t.Helper()
	found := all[T](t)
	if len(found) != 1 {
		t.Fatalf("%d of %T", len(found), *new(T))
	}
	return found[0]
}

func TestCronJob(t *testing.T) {
	text := live.CronJob(managers.All(), "ipamsim:test")
	golden.Check(t, "live/testdata/cronjob.yaml", text)
	for range 50 { // Rules goes through a map: two rules of one API group must not trade places
		if live.CronJob(managers.All(), "ipamsim:test") != text {
			t.Fatal("two calls differ")
		}
	}
	if n := len(jobObjects(t)); n != 12 {
		t.Errorf("%d objects, want 12", n)
	}
	job, account := the[*batchv1.CronJob](t), the[*corev1.ServiceAccount](t)
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	if pod.ServiceAccountName != account.Name || job.Namespace != account.Namespace {
		t.Errorf("the job runs as %s in %s, the account is %s in %s", pod.ServiceAccountName, job.Namespace, account.Name, account.Namespace)
	}
	who := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace}}
	everywhere, there, roles := the[*rbacv1.ClusterRoleBinding](t), all[*rbacv1.RoleBinding](t), all[*rbacv1.Role](t)
	if everywhere.RoleRef.Kind != "ClusterRole" || everywhere.RoleRef.Name != the[*rbacv1.ClusterRole](t).Name || !slices.Equal(everywhere.Subjects, who) {
		t.Errorf("bound is %+v to %+v", everywhere.RoleRef, everywhere.Subjects)
	}
	for i, b := range there {
		if role := roles[i]; b.RoleRef.Kind != "Role" || b.RoleRef.Name != role.Name || b.Namespace != role.Namespace || !slices.Equal(b.Subjects, who) {
			t.Errorf("bound is %+v to %+v", b.RoleRef, b.Subjects)
		}
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("no volume %s", m.Name)
		}
	}
}

// An API server that allows what the roles of the manifest allow, and nothing else, is
// read as one that allows everything: nothing is refused, and no right is there that is
// not used.
func TestRolesAreEnoughAndNoMore(t *testing.T) {
	s := serve(t)
	wikimedia(t, s, 0)
	s.groups = append(s.groups, "apps", "projectcalico.org")
	want, err := readLive(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	everywhere, there := the[*rbacv1.ClusterRole](t), all[*rbacv1.Role](t)
	rules := everywhere.Rules
	used := map[string]bool{}
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		q, ok := listed(r)
		switch {
		case !ok:
			return false
		case allowed(everywhere.Rules, q), slices.ContainsFunc(there, func(r *rbacv1.Role) bool { return q.namespace == r.Namespace && allowed(r.Rules, q) }):
			used[q.group+"/"+q.resource] = true
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	got, err := inCluster(t, s)
	if err != nil {
		t.Fatal(err)
	}
	wantText, _ := liveScenario(t, want)
	gotText, rep := liveScenario(t, got)
	if !bytes.Equal(wantText, gotText) {
		t.Errorf("the scenario is another one; unknown: %q", rep.Unknown)
	}
	// A second time as a cluster in which Calico's own API server has the objects alone.
	s.groups = slices.DeleteFunc(s.groups, func(g string) bool { return g == "crd.projectcalico.org" })
	if _, err := inCluster(t, s); err != nil {
		t.Fatal(err)
	}
	for _, r := range there {
		rules = append(rules, r.Rules...)
	}
	for _, rule := range rules {
		if !slices.Equal(rule.Verbs, []string{"get", "list"}) || len(rule.APIGroups) != 1 || len(rule.NonResourceURLs) > 0 {
			t.Errorf("%+v", rule)
		}
		for _, resource := range rule.Resources {
			if !used[rule.APIGroups[0]+"/"+resource] {
				t.Errorf("a role allows %s of %q, which import does not read", resource, rule.APIGroups[0])
			}
		}
	}
	if allowed(everywhere.Rules, query{resource: "configmaps"}) || allowed(everywhere.Rules, query{resource: "secrets"}) {
		t.Error("the ClusterRole allows to read configuration of others")
	}
}

// query is what a request lists.
type query struct{ namespace, group, resource, name string }

// listed is what a request lists; ok is false for discovery.
func listed(r *http.Request) (q query, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		q.group, parts = parts[1], parts[3:]
	default:
		return q, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		q.namespace, parts = parts[1], parts[2:]
	}
	q.resource = parts[0]
	q.name = strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	return q, true
}

// allowed is what RBAC says of a list: of one by metadata.name as of a get of that name.
//
// Source: Kubernetes' documentation, "Using RBAC Authorization", resourceNames.
func allowed(rules []rbacv1.PolicyRule, q query) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, q.group) && slices.Contains(r.Resources, q.resource) && slices.Contains(r.Verbs, "list") &&
			(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, q.name))
	})
}

// inCluster reads with the kubeconfig of the manifest, as from inside a pod.
func inCluster(t *testing.T, s *server) (*dump.Cluster, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]byte{
		"token": []byte(liveToken), "ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.tls.Certificate().Raw}),
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
	c := dump.New(managers.All())
	return c, l.Read(t.Context(), c, nil)
}
