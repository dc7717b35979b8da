package store

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	"k8s.io/client-go/kubernetes"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// The datastores, by the names Calico's own configuration has for them.
const (
	Etcd       = string(apiconfig.EtcdV3)
	Kubernetes = string(apiconfig.Kubernetes)
)

// Version is the version in ClusterInformation.
const Version = "v3.31.0"

// Store is Calico's datastore in one run. Its clients are the real ones; only their connection
// belongs to the run.
type Store interface {
	// Client is one process's client. Every message that it sends passes g; with a nil gate it
	// is served immediately (for reads and set-up by the harness itself).
	Client(g *sim.Gate, qps float32) (clientv3.Interface, error)
}

// Backend is the backend of a client, for the packages of upstream that need it.
func Backend(c clientv3.Interface) bapi.Client {
	return c.(interface{ Backend() bapi.Client }).Backend()
}

// KubeClient is one process's clientset for the Kubernetes API, through its gate.
func KubeClient(api *kube.Server, g *sim.Gate) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(kube.Config(api.Transport(g)))
}

func Open(env ipam.Env) (Store, error) {
	switch env.Datastore {
	case "", Etcd:
		return &etcdStore{run: env.Store}, nil
	case Kubernetes:
		return &kubeStore{api: env.API}, nil
	}
	return nil, fmt.Errorf("calico: there is no datastore %q", env.Datastore)
}

// Template is a client as upstream builds it, created once and outside of every bubble. Its
// connection is closed immediately and never dials; clients of runs are copies with another
// connection.
var Template = sync.OnceValues(func() (clientv3.Interface, error) {
	c, err := clientv3.New(apiconfig.CalicoAPIConfig{Spec: apiconfig.CalicoAPIConfigSpec{
		DatastoreType: apiconfig.EtcdV3,
		EtcdConfig:    apiconfig.EtcdConfig{EtcdEndpoints: "http://127.0.0.1:1"},
	}})
	if err != nil {
		return nil, err
	}
	return c, closed(Backend(c))
})

// closed closes the connection of an etcdv3 backend. Up to Calico 3.30 a backend has no Close
// method.
func closed(be bapi.Client) error {
	f := reflect.ValueOf(be).Elem().FieldByName("etcdClient")
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Interface().(interface{ Close() error }).Close()
}

// WithBackend is the real client over another backend. No constructor takes a backend, so it
// replaces the client's two unexported fields in a copy.
func WithBackend(be bapi.Client) (clientv3.Interface, error) {
	c, err := Template()
	if err != nil {
		return nil, err
	}
	v := reflect.New(reflect.TypeOf(c)).Elem()
	v.Set(reflect.ValueOf(c))
	Set(v.FieldByName("backend"), be)
	r := reflect.New(v.FieldByName("resources").Elem().Type().Elem())
	Set(r.Elem().FieldByName("backend"), be)
	Set(v.FieldByName("resources"), r.Interface())
	return v.Interface().(clientv3.Interface), nil
}

// Set stores into an unexported field of an addressable struct.
func Set(field reflect.Value, x any) {
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(x))
}

// Missing reports whether the datastore has no such object.
func Missing(err error) bool {
	none := cerrors.ErrorResourceDoesNotExist{}
	return errors.As(err, &none)
}
