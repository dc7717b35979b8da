package store

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// kubeStore is Calico's Kubernetes datastore: custom resources behind the run's
// API server. Its messages are the requests of the process's transport.
type kubeStore struct{ api *kube.Server }

// Client builds the real client from an inline kubeconfig, as upstream does. The kubeconfig's user
// has an authentication plugin, because this is how client-go accepts a transport: the process's
// own. (The address is https because client-go skips authentication without TLS; nothing dials it.)
//
// Upstream's clients limit themselves to qps requests per second, 5 if it is 0, with bursts of 100.
// A client without a gate, which only observes, has no limit.
//
// Source: libcalico-go/lib/backend/k8s/k8s.go, CreateKubernetesClientset.
func (s *kubeStore) Client(g *sim.Gate, qps float32) (clientv3.Interface, error) {
	name, done := Transports.open(s.api.Transport(g))
	defer done()
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "https://api"}}],`+
		` users: [{name: u, user: {auth-provider: {name: %s, config: {transport: "%s"}}}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`,
		authProvider, name)
	if g == nil {
		qps = -1
	}
	return clientv3.New(apiconfig.CalicoAPIConfig{Spec: crdsOnly(apiconfig.CalicoAPIConfigSpec{
		DatastoreType: apiconfig.Kubernetes,
		KubeConfig:    apiconfig.KubeConfig{KubeconfigInline: config, K8sClientQPS: qps},
	})})
}

// authProvider is the name of our plugin in client-go's register.
const authProvider = "ipamsim"

// transports holds the transports of the clients that are under construction, by the name in
// their kubeconfig. A client keeps its transport; the entry is deleted.
type transports struct {
	mu    sync.Mutex
	count int
	Open  map[string]http.RoundTripper
}

// Transports serves all runs of the program: client-go has one register of plugins.
var Transports = func() *transports {
	e := &transports{Open: map[string]http.RoundTripper{}}
	if err := rest.RegisterAuthProviderPlugin(authProvider, e.provide); err != nil {
		panic(err) // the name is taken: two packages use ours
	}
	return e
}()

func (e *transports) open(rt http.RoundTripper) (name string, done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count++
	name = strconv.Itoa(e.count)
	e.Open[name] = rt
	return name, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.Open, name)
	}
}

func (e *transports) provide(_ string, config map[string]string, _ rest.AuthProviderConfigPersister) (rest.AuthProvider, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	rt, ok := e.Open[config["transport"]]
	if !ok {
		return nil, fmt.Errorf("calico: unknown transport %q", config["transport"])
	}
	return through{rt}, nil
}

// through is the plugin of one client.
type through struct{ api http.RoundTripper }

// WrapTransport puts the API server in the place of the network.
func (t through) WrapTransport(http.RoundTripper) http.RoundTripper { return t.api }

// Login has nothing to do.
func (through) Login() error { return nil }
