package kube

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/emicklei/go-restful/v3"
	discoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// kept holds the handlers of resources: their registries behind Kubernetes' own endpoints.
// They are the same in every run of the process and cost as much as ten requests to build, so
// the next run takes them over; only the storage below belongs to the run.
//
// They are built outside of the bubble, because the next run could not use objects of this
// bubble.
type kept struct {
	mu     sync.Mutex
	opened map[string]opened // of built-in resources, by plural
	serves map[string]opened // the same, and those of earlier runs: their descriptions
	builtin,
	beneath storages // below the handler of custom resources
	custom *definitions
	run    *backend
}

func newKept() *kept {
	return &kept{opened: map[string]opened{}, serves: map[string]opened{}}
}

// opened is the handler of a built-in resource, its description, and the requests that it
// accepts.
type opened struct {
	http.Handler
	discovery []discoveryv2.APIResourceDiscovery
	routes    []*restful.WebService
}

// shelves hold the handlers for the next run of their kind: runs of one process are
// consecutive; concurrent runs build their own.
var shelves struct{ plain, controlled atomic.Pointer[kept] }

func (b *backend) shelf() *atomic.Pointer[kept] {
	if b.controlled {
		return &shelves.controlled
	}
	return &shelves.plain
}

// takeKept returns the handlers of an earlier run, or an empty set.
func takeKept(b *backend, crds []*apiextv1.CustomResourceDefinition) (*kept, error) {
	k := b.shelf().Swap(nil)
	if k == nil {
		k = newKept()
	}
	k.run = b
	k.builtin.connect(b)
	var err error
	if k.custom == nil || !slices.Equal(k.custom.given, crds) {
		k.beneath = storages{run: b}
		b.outside(func() { k.custom, err = define(crds, &k.beneath, b.admission()) })
		return k, err
	}
	k.beneath.connect(b)
	b.outside(k.custom.renew)
	return k, nil
}

// leave removes the run's part from the handlers.
func (k *kept) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.opened, func(name string, _ opened) bool { return builtins[name].remembers })
	k.run.shelf().Store(k)
}

// serve calls the handler of custom resources, which builds what it needs for a resource at
// the first request of the process.
func (k *kept) serve(gr schema.GroupResource, w http.ResponseWriter, r *http.Request) error {
	k.mu.Lock()
	if !k.custom.open[gr] {
		var err error
		k.run.outside(func() { err = k.custom.build(gr) })
		if err != nil {
			k.mu.Unlock()
			return err
		}
		k.beneath.open()
	}
	k.mu.Unlock()
	k.custom.handler.ServeHTTP(w, r)
	return nil
}

// handler returns the handler of a built-in resource, built at the first request of the
// process.
func (k *kept) handler(name string, in builtin) (opened, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h, ok := k.opened[name]; ok {
		return h, nil
	}
	var h opened
	var err error
	if in.remembers {
		h, err = in.handler(k.run, k.run)
	} else {
		k.run.outside(func() { h, err = in.handler(&k.builtin, k.run) })
		k.builtin.open()
	}
	if err != nil {
		return opened{}, err
	}
	k.opened[name], k.serves[name] = h, h
	return h, nil
}

// says returns the description of a built-in resource. A registry with state outside etcd is
// opened separately for it: the run's own opens at its first request.
func (k *kept) says(name string, in builtin) (opened, error) {
	k.mu.Lock()
	h, ok := k.serves[name]
	k.mu.Unlock()
	if ok {
		return h, nil
	}
	if !in.remembers {
		return k.handler(name, in)
	}
	h, err := in.handler(k.run, k.run)
	if err != nil {
		return opened{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.serves[name] = h
	return h, nil
}

// allow authorizes an update or patch that creates.
func allow(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

// handler wraps the registry in Kubernetes' own endpoint handlers.
func (in builtin) handler(o generic.RESTOptionsGetter, b *backend) (opened, error) {
	open := in.open
	if b.controlled && in.controlled != nil {
		open = in.controlled
	}
	registries, err := open(o)
	if err != nil {
		return opened{}, err
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
		Admit: b.admission(), Authorizer: authorizer.AuthorizerFunc(allow), MinRequestTimeout: watchTimeoutMin, MaxRequestBodyBytes: bodyMax,
	}
	for r := range registries {
		v.AllServedVersionsByResource[r] = []string{in.gv.Version}
	}
	c := restful.NewContainer()
	c.ServeMux = http.NewServeMux()
	c.Router(&routes{chosen: map[route]choice{}})
	discovery, _, err := v.InstallREST(c)
	return opened{http.HandlerFunc(c.Dispatch), discovery, c.RegisteredWebServices()}, err
}
