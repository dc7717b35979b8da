package dump_test

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/ipam/metallb"
	"ipamsim/sim/ipam/whereabouts"
	"ipamsim/sim/kube"
)

const liveToken = "of-the-test"

// server is the API server of the simulation, served on loopback with TLS to who
// has the token.
type server struct {
	t      *testing.T
	api    *kube.Server
	groups []string
	tls    *httptest.Server

	mu    sync.Mutex
	asked []string // METHOD PATH?QUERY
	// instead answers a request, if it says so: what another cluster would.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

// announced is the kind in which MetalLB's speakers, which are not simulated, report.
func announced() ([]*apiextv1.CustomResourceDefinition, error) {
	free := true
	c := &apiextv1.CustomResourceDefinition{}
	c.Name = "servicel2statuses.metallb.io"
	c.Spec.Group, c.Spec.Scope = "metallb.io", apiextv1.NamespaceScoped
	c.Spec.Names = apiextv1.CustomResourceDefinitionNames{Plural: "servicel2statuses", Singular: "servicel2status", Kind: "ServiceL2Status", ListKind: "ServiceL2StatusList"}
	schema := &apiextv1.CustomResourceValidation{OpenAPIV3Schema: &apiextv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &free}}
	c.Spec.Versions = []apiextv1.CustomResourceDefinitionVersion{{Name: "v1beta1", Served: true, Storage: true, Schema: schema}}
	return []*apiextv1.CustomResourceDefinition{c}, nil
}

func serve(t *testing.T) *server {
	t.Helper()
	store := etcd.New(t.TempDir())
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	run := store.BeginMemory()
	t.Cleanup(run.End)
	var crds []*apiextv1.CustomResourceDefinition
	for _, of := range []func() ([]*apiextv1.CustomResourceDefinition, error){calico.New().CRDs, whereabouts.New().CRDs, metallb.New().CRDs, announced} {
		some, err := of()
		if err != nil {
			t.Fatal(err)
		}
		crds = append(crds, some...)
	}
	s := &server{t: t, groups: []string{"k8s.cni.cncf.io", "batch", "apps", "networking.k8s.io"}}
	var mine []*apiextv1.CustomResourceDefinition
	for _, c := range crds { // both managers have an ippools, in groups of their own
		mine = append(mine, c)
		s.groups = append(s.groups, c.Spec.Group)
	}
	var err error
	if s.api, err = kube.New(run, mine); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.api.Close)
	s.tls = httptest.NewTLSServer(s)
	t.Cleanup(s.tls.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.String())
	switch {
	case r.Header.Get("Authorization") != "Bearer "+liveToken:
		w.WriteHeader(http.StatusUnauthorized)
		return
	case s.instead != nil && s.instead(w, r):
		return
	case r.URL.Path == "/apis": // discovery is the aggregator's, which the simulation has none of
		var names []string
		for _, g := range s.groups {
			names = append(names, fmt.Sprintf(`{"name":%q}`, g))
		}
		fmt.Fprintf(w, `{"kind":"APIGroupList","groups":[%s]}`, strings.Join(names, ","))
		return
	}
	resp := s.do(r)
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		s.t.Error(err)
	}
}

func (s *server) do(r *http.Request) *http.Response {
	resp, err := s.api.Direct().RoundTrip(r)
	if err != nil {
		s.t.Error(err)
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody}
	}
	return resp
}

// store an object, and its status, which the server takes apart.
func (s *server) store(path string, body []byte) {
	s.t.Helper()
	req := httptest.NewRequest(http.MethodPost, "https://kube.sim"+path, bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	resp := s.do(req)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		b, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("%s: %d %s", path, resp.StatusCode, b)
	}
}

// get is what kubectl get --raw prints.
func (s *server) get(path string) []byte {
	s.t.Helper()
	resp := s.do(httptest.NewRequest(http.MethodGet, "https://kube.sim"+path, nil))
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s %v", path, resp.StatusCode, b, err)
	}
	return b
}

// kubeconfig returns a kubeconfig for the server with a token.
func (s *server) kubeconfig(token string) string {
	s.t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.tls.Certificate().Raw})
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
contexts:
- {name: test, context: {cluster: test, user: test}}
- {name: nowhere, context: {cluster: nowhere, user: test}}
- {name: clear, context: {cluster: clear, user: test}}
clusters:
- {name: test, cluster: {server: %q, certificate-authority-data: %s}}
- {name: nowhere, cluster: {server: "https://127.0.0.1:1"}}
- {name: clear, cluster: {server: "http://192.0.2.1"}}
users:
- {name: test, user: {token: %s}}
`, s.tls.URL, base64.StdEncoding.EncodeToString(ca), token)
	name := filepath.Join(s.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}
