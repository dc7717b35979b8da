package kube

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// mux sends a request to the handler of its resource. It replaces a real server's filters:
// every request is authorized.
type mux struct {
	crds      []*apiextv1.CustomResourceDefinition
	custom    map[schema.GroupResource]bool
	kept      atomic.Pointer[kept] // nil once the run is over
	admission admission.Interface  // nil: everything is admitted unchanged
	own       map[string]builtin   // what a Peer serves instead of builtins
}

// builtin returns the built-in resource of a plural.
func (m *mux) builtin(plural string) (in builtin, ok bool) {
	if m.own != nil {
		in, ok = m.own[plural]
	} else {
		in, ok = builtins[plural]
	}
	return in, ok
}

func newMux(b *backend, crds []*apiextv1.CustomResourceDefinition) (*mux, error) {
	m := &mux{crds: crds, custom: map[schema.GroupResource]bool{}}
	for _, c := range crds {
		m.custom[schema.GroupResource{Group: c.Spec.Group, Resource: c.Spec.Names.Plural}] = true
	}
	k, err := takeKept(b, crds)
	m.kept.Store(k)
	return m, err
}

// close passes the handlers on to the next run. Later requests get NotFound.
func (m *mux) close() {
	if k := m.kept.Swap(nil); k != nil {
		k.leave()
	}
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
	// The handlers of custom resources write to the audit log by default.
	ctx := audit.WithAuditContext(request.WithUser(r.Context(), everyone))
	if m.admission != nil {
		ctx = context.WithValue(ctx, admissionKey{}, m.admission)
	}
	if err := audit.AuditContextFrom(ctx).Init(audit.RequestAuditConfig{Level: auditinternal.LevelNone}, nil); err != nil {
		panic(err) // only if it was already initialized
	}
	r = r.WithContext(ctx)
	gr := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	in, ok := m.builtin(info.Resource)
	ok = ok && in.gv == schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	k := m.kept.Load()
	switch {
	case k != nil && m.custom[gr]:
		if err := k.serve(gr, w, r); err != nil {
			panic(fmt.Sprintf("kube: open %s: %v", gr, err)) // an invalid definition, detected on first use
		}
	case k != nil && ok:
		h, err := k.handler(info.Resource, in)
		if err != nil {
			panic(fmt.Sprintf("kube: open %s: %v", gr, err)) // an invalid table, detected on first use
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

// kube-apiserver's defaults.
const (
	watchTimeoutMin = 1800 * time.Second
	bodyMax         = 3 << 20
)
