package kube

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/kubernetes/pkg/apis/core"
)

// uids generates UIDs, which a real API server takes from crypto/rand. They are numbered in
// order of creation or, if uids has names, by the number of earlier objects with the same
// name.
type uids struct {
	mu    sync.Mutex
	last  uint64
	names map[string]uint64
}

func (u *uids) next(key string) types.UID {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		u.last++
		return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", u.last))
	}
	u.names[key]++
	name := sha256.Sum256([]byte(key))
	return types.UID(fmt.Sprintf("%x-0000-4000-8000-%012x", name[:4], u.names[key]))
}

// NameUIDs derives objects' UIDs from their names, so that the creation order of unrelated
// objects changes no UID. Call it before anything is stored.
func (s *Server) NameUIDs() { s.backend.uids.names = map[string]uint64{} }

// repeatable replaces, just before an object reaches etcd, values that would differ between
// two runs of the same schedule. Timestamps need no replacement: they are virtual time.
type repeatable struct {
	storage.Interface
	run *backend
	// open is set for the storage of a registry that outlives the run. It has the uids and
	// untracked of each run in turn.
	open func(*backend) storage.Interface
}

// Create numbers UIDs in order of creation and drops managedFields of objects that were never
// applied: they are half of an object's bytes and describe only the writer. An object stored
// without them is tracked from its first apply, like an object from before server-side apply.
//
// A namespace is stored without its finalizer if the controller that empties the namespace and
// removes the finalizer is absent.
// the namespace and take it off is not here.
func (s *repeatable) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if m, err := meta.Accessor(obj); err == nil {
		m.SetUID(s.run.uids.next(key))
		untrack(m)
	}
	if ns, ok := obj.(*core.Namespace); ok && !s.run.controlled {
		ns.Spec.Finalizers = nil
	}
	return s.Interface.Create(ctx, key, obj, out, ttl)
}

// untrack drops managedFields of objects that were never applied.
func untrack(m metav1.Object) {
	if !slices.ContainsFunc(m.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Operation == metav1.ManagedFieldsOperationApply }) {
		m.SetManagedFields(nil)
	}
}

// GuaranteedUpdate drops managedFields as well, and numbers the objects that an update
// creates.
func (s *repeatable) GuaranteedUpdate(ctx context.Context, key string, dest runtime.Object, ignoreNotFound bool,
	pre *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	clean := func(in runtime.Object, resp storage.ResponseMeta) (runtime.Object, *uint64, error) {
		obj, ttl, err := update(in, resp)
		if err != nil || obj == nil {
			return obj, ttl, err
		}
		if m, err := meta.Accessor(obj); err == nil {
			untrack(m)
			if old, err := meta.Accessor(in); err == nil && old.GetUID() == "" {
				m.SetUID(s.run.uids.next(key))
			}
		}
		return obj, ttl, nil
	}
	return s.Interface.GuaranteedUpdate(ctx, key, dest, ignoreNotFound, pre, clean, cached)
}

// Watch adds progress events for clients that request bookmarks.
func (s *repeatable) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	opts.ProgressNotify = s.run.controlled && opts.Predicate.AllowWatchBookmarks
	return s.Interface.Watch(ctx, key, opts)
}
