package kube

import (
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/scheduling"
	informersv1 "k8s.io/client-go/informers/scheduling/v1"
	listers "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
)

// presentOne is a built-in object without a namespace as it is stored now.
func presentOne[T runtime.Object](s *Server, gr schema.GroupResource, name string) (obj T, err error) {
	err = apierrors.NewNotFound(gr, name)
	key := prefix + "/" + gr.Resource + "/" + name
	s.store.Scan(key, func(k string, value []byte, rev int64) {
		if k != key {
			return // its name only begins so
		}
		var o runtime.Object
		if o, err = s.journal.decode(k, value, rev); err == nil {
			obj = o.(T)
		}
	})
	return obj, err
}

// present is the informers of an admission plugin, which lists priority classes: what
// is stored now, without a goroutine. Nothing else of the interfaces is called.
type present struct {
	informers.SharedInformerFactory
	s *Server
}

func (p present) Scheduling() scheduling.Interface { return presentGroup{s: p.s} }

type presentGroup struct {
	scheduling.Interface
	s *Server
}

func (p presentGroup) V1() informersv1.Interface { return presentVersion(p) }

type presentVersion struct {
	scheduling.Interface
	s *Server
}

func (p presentVersion) PriorityClasses() informersv1.PriorityClassInformer {
	return presentClasses{s: p.s}
}

type presentClasses struct {
	cache.SharedIndexInformer
	listers.PriorityClassListerExpansion
	s *Server
}

func (p presentClasses) Informer() cache.SharedIndexInformer { return p }

func (p presentClasses) Lister() listers.PriorityClassLister { return p }

func (presentClasses) HasSynced() bool { return true }

func (p presentClasses) Get(name string) (*schedulingv1.PriorityClass, error) {
	return presentOne[*schedulingv1.PriorityClass](p.s, schedulingv1.Resource("priorityclasses"), name)
}

func (p presentClasses) List(labels.Selector) (all []*schedulingv1.PriorityClass, err error) {
	p.s.store.Scan(prefix+"/priorityclasses/", func(key string, value []byte, rev int64) {
		var o runtime.Object
		if o, err = p.s.journal.decode(key, value, rev); err == nil {
			all = append(all, o.(*schedulingv1.PriorityClass))
		}
	})
	return all, err
}
