package kube

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/emicklei/go-restful/v3"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// kept is the handlers of the built-in resources: their registries behind
// Kubernetes' own endpoints. They are the same in every run of the process and
// cost as much as ten requests to build, so the next run takes them over; only
// the storage beneath is the run's own.
//
// They are built outside of the bubble, whose objects the next run could not use.
type kept struct {
	mu     sync.Mutex
	opened map[string]http.Handler // by plural
	stores []*repeatable
	run    *backend

	given, definitions []*apiextv1.CustomResourceDefinition // of the last run, and how they are once established
}

// shelf is where a run leaves them for the next one: worlds of one process run
// one after another; if they do not, each builds its own.
var shelf atomic.Pointer[kept]

// takeKept gives the run what an earlier one left, or an empty one.
func takeKept(b *backend) *kept {
	k := shelf.Swap(nil)
	if k == nil {
		k = &kept{opened: map[string]http.Handler{}}
	}
	k.run = b
	for _, s := range k.stores {
		s.Interface = nil // the last run's, which answers nobody any more
	}
	k.connect()
	return k
}

// established is what a run's definitions of custom resources look like to its
// server: worked out anew unless they are those of the run before.
func (k *kept) established(crds []*apiextv1.CustomResourceDefinition) []*apiextv1.CustomResourceDefinition {
	if !slices.Equal(k.given, crds) {
		k.given, k.definitions = crds, nil
		for _, c := range crds {
			k.definitions = append(k.definitions, established(c))
		}
	}
	return k.definitions
}

// connect opens the storage of every registry that has none in this run.
func (k *kept) connect() {
	for _, s := range k.stores {
		if s.Interface == nil {
			s.Interface, s.values = s.open(k.run), k.run.values
		}
	}
}

// leave ends the run's part in it.
func (k *kept) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.opened, func(name string, _ http.Handler) bool { return builtins[name].remembers })
	shelf.Store(k)
}

// handler is the handler of a built-in resource, built at the first request of
// the process for it.
func (k *kept) handler(name string, in builtin) (http.Handler, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.opened[name]; h != nil {
		return h, nil
	}
	var h http.Handler
	var err error
	if in.remembers {
		h, err = in.handler(k.run)
	} else {
		h, err = k.outside(in)
		k.connect()
	}
	if err != nil {
		return nil, err
	}
	k.opened[name] = h
	return h, nil
}

// outside builds a handler outside of the bubble.
func (k *kept) outside(in builtin) (h http.Handler, err error) {
	k.run.outside(func() { h, err = in.handler(k) })
	return h, err
}

// handler is the registry behind Kubernetes' own endpoint handlers.
func (in builtin) handler(o generic.RESTOptionsGetter) (http.Handler, error) {
	registries, err := in.open(o)
	if err != nil {
		return nil, err
	}
	root := "/apis"
	if in.gv.Group == "" {
		root = "/api"
	}
	sch := legacyscheme.Scheme
	options := schema.GroupVersion{Version: "v1"}
	v := &endpoints.APIGroupVersion{
		Storage: registries, Root: root, GroupVersion: in.gv, AllServedVersionsByResource: map[string][]string{},
		ParameterCodec: legacyscheme.ParameterCodec, Serializer: legacyscheme.Codecs,
		Creater: sch, Convertor: sch, ConvertabilityChecker: sch, UnsafeConvertor: runtime.UnsafeObjectConvertor(sch),
		Defaulter: sch, Typer: sch, Namer: runtime.Namer(meta.NewAccessor()),
		EquivalentResourceRegistry: runtime.NewEquivalentResourceRegistry(),
		OptionsExternalVersion:     &options, TypeConverter: newUntracked(),
		MinRequestTimeout: watchTimeoutMin, MaxRequestBodyBytes: bodyMax,
	}
	for r := range registries {
		v.AllServedVersionsByResource[r] = []string{in.gv.Version}
	}
	c := restful.NewContainer()
	c.ServeMux = http.NewServeMux()
	c.Router(&routes{chosen: map[route]choice{}})
	_, _, err = v.InstallREST(c)
	return http.HandlerFunc(c.Dispatch), err
}

// GetRESTOptions is for registries that outlive the run: they get storage that
// connect opens.
func (k *kept) GetRESTOptions(gr schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return restOptions(gr, k.decorate), nil
}

func (k *kept) decorate(c *storagebackend.ConfigForResource, where string, _ func(runtime.Object) (string, error),
	newObject, newList func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	s := &repeatable{open: func(b *backend) storage.Interface { return b.open(c, where, newObject, newList) }}
	k.stores = append(k.stores, s)
	return s, func() {}, nil
}
