package kube

import (
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	informersof "k8s.io/client-go/informers/scheduling"
	informersv1 "k8s.io/client-go/informers/scheduling/v1"
	listers "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
	scheduling "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// presentOne returns the stored built-in object of a name; with a namespace the name is
// NAMESPACE/NAME.
func presentOne[T runtime.Object](s *Server, gr schema.GroupResource, name string) (obj T, err error) {
	err = apierrors.NewNotFound(gr, name)
	key := prefix + "/" + gr.Resource + "/" + name
	s.store.Scan(key, func(k string, value []byte, rev int64) {
		if k != key {
			return // a longer name with this prefix
		}
		var o runtime.Object
		if o, err = s.journal.decode(k, value, rev); err == nil {
			obj = o.(T)
		}
	})
	return obj, err
}

// presentAll returns the stored built-in objects of a resource, by namespace and name, in one
// namespace or all.
func presentAll[T runtime.Object](s *Server, resource, namespace string) (all []T, err error) {
	key := prefix + "/" + resource + "/"
	if namespace != "" {
		key += namespace + "/"
	}
	s.store.Scan(key, func(k string, value []byte, rev int64) {
		o, bad := s.journal.decode(k, value, rev)
		if bad != nil {
			err = bad
			return
		}
		all = append(all, o.(T))
	})
	return all, err
}

// present replaces the informers of admission plugins, which list priority classes and limit
// ranges: it reads the stored objects, without a goroutine. The plugins call no other method
// of the interfaces.
type present struct {
	informers.SharedInformerFactory
	s *Server
}

func (p present) Scheduling() informersof.Interface { return presentGroup{s: p.s} }

type presentGroup struct {
	informersof.Interface
	s *Server
}

func (p presentGroup) V1() informersv1.Interface { return presentVersion(p) }

type presentVersion struct {
	informersof.Interface
	s *Server
}

func (p presentVersion) PriorityClasses() informersv1.TypedPriorityClassInformer {
	return presentClasses{s: p.s}
}

type presentClasses struct {
	cache.SharedIndexInformer
	listers.PriorityClassListerExpansion
	s *Server
}

func (p presentClasses) TypedInformer() informersv1.PriorityClassIndexInformer { return nil }

func (p presentClasses) Informer() cache.SharedIndexInformer { return p }

func (p presentClasses) Lister() listers.PriorityClassLister { return p }

func (presentClasses) HasSynced() bool { return true }

// Get also has the classes of system components, which kube-apiserver stores when it starts.
func (p presentClasses) Get(name string) (*schedulingv1.PriorityClass, error) {
	for _, c := range scheduling.SystemPriorityClasses() {
		if c.Name == name {
			return c, nil
		}
	}
	return presentOne[*schedulingv1.PriorityClass](p.s, schedulingv1.Resource("priorityclasses"), name)
}

// List returns the stored classes: no other class is the global default.
func (p presentClasses) List(labels.Selector) ([]*schedulingv1.PriorityClass, error) {
	return presentAll[*schedulingv1.PriorityClass](p.s, "priorityclasses", "")
}
