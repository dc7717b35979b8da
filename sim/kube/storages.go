package kube

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// storages are the storages of registries that outlive the run. Each run opens its own below
// them.
type storages struct {
	run *backend
	all []*repeatable
}

// connect connects them to another run.
func (s *storages) connect(b *backend) {
	s.run = b
	for _, r := range s.all {
		r.Interface = nil // the last run's storage no longer answers
	}
	s.open()
}

// open opens the storages that are not yet open in this run.
func (s *storages) open() {
	for _, r := range s.all {
		if r.Interface == nil {
			r.Interface, r.run = r.open(s.run), s.run
		}
	}
}

// GetRESTOptions returns options with a storage that open opens.
func (s *storages) GetRESTOptions(gr schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return restOptions(gr, s.decorate), nil
}

func (s *storages) decorate(c *storagebackend.ConfigForResource, where string, _ func(runtime.Object) (string, error),
	newObject, newList func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	r := &repeatable{open: func(b *backend) storage.Interface { return b.open(c, where, newObject, newList) }}
	s.all = append(s.all, r)
	return r, func() {}, nil
}
