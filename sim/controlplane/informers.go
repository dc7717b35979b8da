package controlplane

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"ipamsim/sim/kube"
)

// types maps resources to Go types and back. Building it draws from the bubble's random
// numbers, so Prepare does it outside.
var types = sync.OnceValue(func() (t struct {
	resource map[reflect.Type]schema.GroupVersionResource
	object   map[schema.GroupVersionResource]runtime.Object
},
) {
	t.resource, t.object = map[reflect.Type]schema.GroupVersionResource{}, map[schema.GroupVersionResource]runtime.Object{}
	for kind, is := range scheme.Scheme.AllKnownTypes() {
		gvr, _ := meta.UnsafeGuessKindToResource(kind)
		if o, ok := reflect.New(is).Interface().(metav1.ObjectMetaAccessor); ok {
			t.resource[reflect.PointerTo(is)], t.object[gvr] = gvr, o.(runtime.Object)
		}
	}
	return t
})

// factory is a factory of informers that get objects from the process's transport (kube.Objects).
type factory struct {
	informers.SharedInformerFactory
	rt http.RoundTripper
}

// InformerFor creates the informer of a type, unless it exists.
func (f *factory) InformerFor(obj runtime.Object, open internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	if gvr, known := types().resource[reflect.TypeOf(obj)]; known {
		if way, ok := kube.ObjectsOf(f.rt, gvr, obj); ok {
			open = func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				return cache.NewSharedIndexInformer(way, obj, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			}
		}
	}
	return f.SharedInformerFactory.InformerFor(obj, open)
}

// ForResource creates the informer of a resource, unless it exists.
func (f *factory) ForResource(gvr schema.GroupVersionResource) (informers.GenericInformer, error) {
	if obj, known := types().object[gvr]; known {
		if _, ok := kube.ObjectsOf(f.rt, gvr, obj); ok {
			f.InformerFor(obj, nil) // so that the factory has it
		}
	}
	return f.SharedInformerFactory.ForResource(gvr)
}

func (f *factory) Apps() apps.Interface                 { return apps.New(f, "", nil) }
func (f *factory) Batch() batch.Interface               { return batch.New(f, "", nil) }
func (f *factory) Coordination() coordination.Interface { return coordination.New(f, "", nil) }
func (f *factory) Core() core.Interface                 { return core.New(f, "", nil) }
func (f *factory) Policy() policy.Interface             { return policy.New(f, "", nil) }
func (f *factory) Resource() resource.Interface         { return resource.New(f, "", nil) }
func (f *factory) Scheduling() scheduling.Interface     { return scheduling.New(f, "", nil) }
func (f *factory) Storage() storage.Interface           { return storage.New(f, "", nil) }

// partials is a metadata client whose lists and watches of all objects of a resource get
// objects from the process's transport.
type partials struct {
	metadata.Interface
	rt http.RoundTripper

	mu sync.Mutex
	of map[schema.GroupVersionResource]*kube.Objects
}

// Resource implements metadata.Interface.
func (p *partials) Resource(gvr schema.GroupVersionResource) metadata.Getter {
	getter := p.Interface.Resource(gvr)
	p.mu.Lock()
	defer p.mu.Unlock()
	way, ok := p.of[gvr]
	if !ok {
		if way, ok = kube.ObjectsOf(p.rt, gvr, &metav1.PartialObjectMetadata{}); !ok {
			return getter
		}
		p.of[gvr] = way
	}
	return partial{getter, way}
}

type partial struct {
	metadata.Getter
	way *kube.Objects
}

func (p partial) Namespace(name string) metadata.ResourceInterface {
	if name == metav1.NamespaceAll {
		return p
	}
	return p.Getter.Namespace(name)
}

func (p partial) List(ctx context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	items, revision, err := listed[metav1.PartialObjectMetadata](ctx, p.way, opts)
	if err != nil {
		return nil, err
	}
	return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: revision}, Items: items}, nil
}

// listed is a list of objects of type T, and its revision.
func listed[T any](ctx context.Context, way *kube.Objects, opts metav1.ListOptions) (items []T, revision string, err error) {
	got, err := way.ListWithContext(ctx, opts)
	if err != nil {
		return nil, "", err
	}
	if m, err := meta.ListAccessor(got); err == nil {
		revision = m.GetResourceVersion()
	}
	err = meta.EachListItem(got, func(o runtime.Object) error {
		items = append(items, *any(o).(*T))
		return nil
	})
	return items, revision, err
}

func (p partial) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return p.way.WatchWithContext(ctx, opts)
}

// podsClient is a client whose lists and watches of the pods of all namespaces get objects
// from the process's transport: kube-scheduler creates their informer itself, with a selector.
type podsClient struct {
	kubernetes.Interface
	way *kube.Objects
}

func (c podsClient) CoreV1() corev1client.CoreV1Interface {
	return podsCore{c.Interface.CoreV1(), c.way}
}

type podsCore struct {
	corev1client.CoreV1Interface
	way *kube.Objects
}

func (c podsCore) Pods(ns string) corev1client.PodInterface {
	if ns != metav1.NamespaceAll {
		return c.CoreV1Interface.Pods(ns)
	}
	return podsOf{c.CoreV1Interface.Pods(ns), c.way}
}

type podsOf struct {
	corev1client.PodInterface
	way *kube.Objects
}

func (p podsOf) List(ctx context.Context, opts metav1.ListOptions) (*corev1.PodList, error) {
	if err := p.selects(opts); err != nil {
		return nil, err
	}
	items, revision, err := listed[corev1.Pod](ctx, p.way, opts)
	if err != nil {
		return nil, err
	}
	return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: revision}, Items: items}, nil
}

func (p podsOf) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if err := p.selects(opts); err != nil {
		return nil, err
	}
	return p.way.WatchWithContext(ctx, opts)
}

// selects returns the pods that match the options: the only selector is the phase.
func (p podsOf) selects(opts metav1.ListOptions) error {
	s, err := fields.ParseSelector(opts.FieldSelector)
	if err != nil {
		return err
	}
	for _, r := range s.Requirements() {
		if r.Field != "status.phase" {
			return apierrors.NewBadRequest("field selector " + r.Field)
		}
	}
	p.way.Keep("fieldSelector="+opts.FieldSelector, func(o runtime.Object) bool {
		return s.Matches(fields.Set{"status.phase": string(o.(*corev1.Pod).Status.Phase)})
	})
	return nil
}

// IsWatchListSemanticsUnSupported calls kube.Objects.
func (p *partials) IsWatchListSemanticsUnSupported() bool { return true }

// IsWatchListSemanticsUnSupported calls kube.Objects.
func (podsClient) IsWatchListSemanticsUnSupported() bool { return true }
