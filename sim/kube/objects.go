package kube

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"

	"ipamsim/sim"
	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// Objects lists and watches all objects of a resource for an informer. The messages at the
// process's gate, and their faults, are those of a client with a Transport, but they carry
// objects: encoding each object for one reader and decoding it again is most of the cost of an
// informer. It implements cache.ListerWatcherWithContext.
//
// A list and the watch that follows are one request, as of a client with WatchListClient. Its
// first part is one message, independent of the number of objects. A watch that ends by its
// time-out is renewed at its revision without a message: it has missed nothing, and a
// reachable process gets it immediately.
type Objects struct {
	d     *gated
	gvr   schema.GroupVersionResource
	where string // their prefix in the store
	blank func() runtime.Object
	query string
	keeps func(runtime.Object) bool // the selected objects; nil: all
	mu    sync.Mutex
	known string       // the revision up to which the informer is complete
	ended bool         // its watch has ended by its time-out
	next  *objectWatch // begun by a list
}

// ObjectsOf returns the Objects of the process with this Transport. The informer expects
// objects like blank: of the resource's type, or their metadata. ok is false if rt is not a
// Transport, and for resources that the server does not serve.
func ObjectsOf(rt http.RoundTripper, gvr schema.GroupVersionResource, blank runtime.Object) (o *Objects, ok bool) {
	d, ok := rt.(*gated)
	if !ok {
		return nil, false
	}
	o = &Objects{d: d, gvr: gvr, where: path.Join(prefix, gvr.Group, gvr.Resource) + "/", blank: blank.DeepCopyObject}
	_, partial := blank.(*metav1.PartialObjectMetadata)
	if in, is := builtins[gvr.Resource]; is && in.gv == gvr.GroupVersion() {
		o.where = path.Join(prefix, gvr.Resource) + "/"
	} else if !partial || !d.s.mux.custom[gvr.GroupResource()] {
		return nil, false
	}
	return o, true
}

// objectList is a list of any objects.
type objectList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []runtime.Object
}

// Keep selects objects, as a selector does. The query is the selector's form in a request
// ("fieldSelector=…"). Call it before the first list.
func (o *Objects) Keep(query string, keeps func(runtime.Object) bool) {
	o.query, o.keeps = query, keeps
}

// DeepCopyObject implements runtime.Object.
func (l *objectList) DeepCopyObject() runtime.Object {
	c := &objectList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for _, o := range l.Items {
		c.Items = append(c.Items, o.DeepCopyObject())
	}
	return c
}

// List is ListWithContext without a context.
func (o *Objects) List(opts metav1.ListOptions) (runtime.Object, error) {
	return o.ListWithContext(context.Background(), opts)
}

// Watch is WatchWithContext without a context.
func (o *Objects) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return o.WatchWithContext(context.Background(), opts)
}

// ListWithContext returns all objects and begins their watch.
func (o *Objects) ListWithContext(caller context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	list := &objectList{}
	err := o.send(caller, o.op("WATCH", sim.Watch, "sendInitialEvents=true"), answer.Watch, func(ctx context.Context) (err error) {
		if err = o.read(ctx, list); err == nil {
			o.report(ctx, list.ResourceVersion)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.ended = list.ResourceVersion, false
	if o.next != nil {
		o.next.Stop()
		o.next = nil
	}
	o.next = o.begin(caller, list.ResourceVersion)
	return list, nil
}

// WatchWithContext returns the changes of the objects after a revision.
func (o *Objects) WatchWithContext(caller context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	o.mu.Lock()
	w, goesOn := o.next, o.ended && o.known == opts.ResourceVersion && o.d.g.Reached()
	o.next, o.ended = nil, false
	o.mu.Unlock()
	if w == nil && !goesOn {
		err := o.send(caller, o.op("WATCH", sim.Watch, "resourceVersion="+opts.ResourceVersion), answer.Watch|answer.Resume, func(ctx context.Context) error {
			o.report(ctx, "")
			return nil
		})
		if apierrors.IsResourceExpired(err) {
			return expiredWatch(), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if w == nil {
		w = o.begin(caller, opts.ResourceVersion)
	}
	if t := opts.TimeoutSeconds; t != nil {
		w.end(time.Duration(*t) * time.Second)
	}
	return w, nil
}

// op describes a request to the schedule.
func (o *Objects) op(verb string, kind sim.OpKind, query string) sim.Op {
	r := About(verb, o.gvr.Resource, "", "")
	r.Query = "?" + strings.Trim(o.query+"&"+query, "&")
	return sim.Op{Request: r, Kind: kind, Faults: sim.Of(sim.FailBefore), Link: o.d.conn.link}
}

// retriesMax is how often a client retries a request after Retry-After.
//
// Source: client-go, rest.NewRequest (v0.37.2).
const retriesMax = 10

// send waits at the gate until the schedule delivers or fails a request. It retries as
// client-go does: if the server sends Retry-After, or the connection ended.
//
// Source: client-go, rest.Request.request, rest.Request.Watch (v0.37.2).
func (o *Objects) send(ctx context.Context, op sim.Op, m answer.Meets, do func(context.Context) error) error {
	op.Fails, _ = answer.Ways(answer.API, m)
	for n := 0; ; n++ {
		err := o.d.g.Pass(ctx, op, do)
		var f *sim.Fault
		if !errors.As(err, &f) {
			return err
		}
		a := answer.Of(answer.API, m, way.ConnectionLost)
		if f.Outcome == sim.FailBefore {
			a = answer.Of(answer.API, m, way.Way(f.Level))
			err = o.d.conn.await(ctx, &a)
		} else {
			err = a.Err // see conn.lose
		}
		wait := a.RetryAfter
		switch {
		case utilnet.IsProbableEOF(err):
			wait = 1
		case err == nil:
			err = errorOf(&a, strings.ToLower(op.Request.Verb), o.gvr.GroupResource())
		}
		if wait == 0 || n == retriesMax {
			return err
		}
		select {
		case <-time.After(time.Duration(wait) * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *Objects) report(ctx context.Context, revision string) {
	x := Exchange{Method: http.MethodGet, Path: "/" + path.Join(o.gvr.Group, o.gvr.Version, o.gvr.Resource), Verb: "watch", Resource: o.gvr.Resource, Status: http.StatusOK, Revision: revision}
	sim.Report(ctx, x.Note(), x)
}

// read lists the stored objects.
func (o *Objects) read(ctx context.Context, list *objectList) error {
	got, err := o.d.s.backend.client.KV.Get(ctx, o.where, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	for _, kv := range got.Kvs {
		obj, err := o.d.s.journal.decode(string(kv.Key), kv.Value, kv.ModRevision)
		if err != nil {
			return err
		}
		if o.keeps == nil || o.keeps(obj) {
			list.Items = append(list.Items, o.shown(obj, kv.ModRevision))
		}
	}
	list.ResourceVersion = strconv.FormatInt(got.Header.Revision, 10)
	return nil
}

// shown returns a copy of an object with its revision, as a client has it.
func (o *Objects) shown(obj runtime.Object, rev int64) runtime.Object {
	if partial, is := o.blank().(*metav1.PartialObjectMetadata); is {
		if m, err := meta.Accessor(obj); err == nil {
			partial = meta.AsPartialObjectMetadata(m).DeepCopy()
		}
		partial.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		partial.ResourceVersion = strconv.FormatInt(rev, 10)
		return partial
	}
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if m, err := meta.Accessor(obj); err == nil {
		m.SetResourceVersion(strconv.FormatInt(rev, 10))
	}
	return obj
}

// IsWatchListSemanticsUnSupported makes a reflector call ListWithContext and then
// WatchWithContext, which together are the one stream.
func (o *Objects) IsWatchListSemanticsUnSupported() bool { return true }
