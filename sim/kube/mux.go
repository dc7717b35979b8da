package kube

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/emicklei/go-restful/v3"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/sets"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// mux sends a request to the handler of its resource. It takes the place of a
// real server's filters: everybody is allowed everything.
type mux struct {
	backend *backend
	custom  map[schema.GroupResource]bool // served by crs
	crs     http.Handler

	mu     sync.Mutex
	opened map[string]http.Handler // built-in resources, by plural
}

func newMux(b *backend, crds []*apiextv1.CustomResourceDefinition) (*mux, error) {
	m := &mux{backend: b, custom: map[schema.GroupResource]bool{}, opened: map[string]http.Handler{}}
	for _, c := range crds {
		m.custom[schema.GroupResource{Group: c.Spec.Group, Resource: c.Spec.Names.Plural}] = true
	}
	var err error
	m.crs, err = newCustom(b, crds, http.HandlerFunc(unknown))
	return m, err
}

var requestInfo = &request.RequestInfoFactory{
	APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
}

var everyone = &user.DefaultInfo{Name: "sim", Groups: []string{user.SystemPrivilegedGroup}}

// ServeHTTP serves one request. Its context must carry the RequestInfo.
func (m *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, ok := request.RequestInfoFrom(r.Context())
	if !ok || !info.IsResourceRequest {
		unknown(w, r)
		return
	}
	// The handlers of custom resources write to the audit log unless told not to.
	ctx := audit.WithAuditContext(request.WithUser(r.Context(), everyone))
	if err := audit.AuditContextFrom(ctx).Init(audit.RequestAuditConfig{Level: auditinternal.LevelNone}, nil); err != nil {
		panic(err) // only if it was initialized already
	}
	r = r.WithContext(ctx)
	gr := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	in, ok := builtins[info.Resource]
	switch {
	case m.custom[gr]:
		m.crs.ServeHTTP(w, r)
	case ok && in.gv == schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}:
		h, err := m.open(info.Resource, in)
		if err != nil {
			panic(fmt.Sprintf("kube: open %s: %v", gr, err)) // a defect of the table, on the first use
		}
		h.ServeHTTP(w, r)
	default:
		unknown(w, r)
	}
}

// unknown is the answer of a real server to a path that no API serves.
func unknown(w http.ResponseWriter, r *http.Request) {
	responsewriters.ErrorNegotiated(apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "",
		"the server could not find the requested resource", 0, true), legacyscheme.Codecs, schema.GroupVersion{Version: "v1"}, w, r)
}

// open is the handler of a built-in resource: its registry behind Kubernetes's
// own endpoint handlers.
func (m *mux) open(name string, in builtin) (http.Handler, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.opened[name]; h != nil {
		return h, nil
	}
	storage, err := in.open(m.backend)
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
		Storage: storage, Root: root, GroupVersion: in.gv, AllServedVersionsByResource: map[string][]string{},
		ParameterCodec: legacyscheme.ParameterCodec, Serializer: legacyscheme.Codecs,
		Creater: sch, Convertor: sch, ConvertabilityChecker: sch, UnsafeConvertor: runtime.UnsafeObjectConvertor(sch),
		Defaulter: sch, Typer: sch, Namer: runtime.Namer(meta.NewAccessor()),
		EquivalentResourceRegistry: runtime.NewEquivalentResourceRegistry(),
		OptionsExternalVersion:     &options, TypeConverter: managedfields.NewDeducedTypeConverter(),
		MinRequestTimeout: watchTimeoutMin, MaxRequestBodyBytes: bodyMax,
	}
	for r := range storage {
		v.AllServedVersionsByResource[r] = []string{in.gv.Version}
	}
	c := restful.NewContainer()
	c.ServeMux = http.NewServeMux()
	c.Router(restful.CurlyRouter{})
	if _, _, err := v.InstallREST(c); err != nil {
		return nil, err
	}
	m.opened[name] = c
	return c, nil
}

// kube-apiserver's defaults.
const (
	watchTimeoutMin = 1800 * time.Second
	bodyMax         = 3 << 20
)
