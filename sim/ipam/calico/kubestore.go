package calico

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// kubeStore is Calico's Kubernetes datastore: custom resources behind the run's
// API server. Its messages are the requests themselves, at the process's door.
type kubeStore struct{ api *kube.Server }

// client builds the real client from an inline kubeconfig. It takes its transport
// from http.DefaultTransport, so that is where the door is found, by a host name
// that nobody else has.
func (s *kubeStore) client(g *sim.Gate) (clientv3.Interface, error) {
	host := doors.open(s.api.Door(g))
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "http://%s"}}],`+
		` users: [{name: u, user: {}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`, host)
	return clientv3.New(apiconfig.CalicoAPIConfig{Spec: apiconfig.CalicoAPIConfigSpec{
		DatastoreType: apiconfig.Kubernetes,
		KubeConfig:    apiconfig.KubeConfig{KubeconfigInline: config, K8sClientQPS: -1},
	}})
}

// switchboard routes requests to doors by their host, and everything else to
// where it would have gone.
type switchboard struct {
	next  http.RoundTripper
	count atomic.Uint64
	doors sync.Map // host → http.RoundTripper
}

var doors = func() *switchboard {
	s := &switchboard{next: http.DefaultTransport}
	http.DefaultTransport = s
	return s
}()

func (s *switchboard) open(rt http.RoundTripper) string {
	host := fmt.Sprintf("door-%d.sim", s.count.Add(1))
	s.doors.Store(host, rt)
	return host
}

// RoundTrip goes through the door of the request's host.
func (s *switchboard) RoundTrip(r *http.Request) (*http.Response, error) {
	if rt, ok := s.doors.Load(r.URL.Host); ok {
		return rt.(http.RoundTripper).RoundTrip(r)
	}
	return s.next.RoundTrip(r)
}
