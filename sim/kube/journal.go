package kube

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"ipamsim/sim/etcd"
)

// Change is one committed change of an object.
type Change struct {
	Resource, Group, Namespace, Name string
	Revision                         int64
	// Object and Old are typed for built-in resources ("*corev1.Pod") and
	// *unstructured.Unstructured for custom ones; nil when deleted, nil when
	// created. They are decoded once and shared: do not change them.
	Object, Old runtime.Object
}

// journal converts the store's changes of keys to changes of objects.
type journal struct {
	store  *etcd.Run
	custom map[schema.GroupResource]bool
	subs   []func(Change)

	mu   sync.Mutex
	seen map[string][2]known // by key: the last decoded object, and the one before
}

type known struct {
	rev int64
	obj runtime.Object
}

func newJournal(store *etcd.Run, custom map[schema.GroupResource]bool) *journal {
	return &journal{store: store, custom: custom, seen: map[string][2]known{}}
}

// OnChange subscribes f to every committed change, in order of revision. The store's Pump
// calls it on the kernel's root goroutine: f must not wait.
func (s *Server) OnChange(f func(Change)) { s.journal.subs = append(s.journal.subs, f) }

// List returns every stored object of a resource, sorted by namespace and name, at the present
// revision. It makes no request and passes no gate. The objects are shared: do not change
// them.
//
// The resource is a plural ("pods"), with its group if two custom resources have it
// ("ippools.whereabouts.cni.cncf.io"). It is an error if no resource or several match.
func (s *Server) List(_ context.Context, resource string) ([]runtime.Object, error) {
	where := resource
	if _, ok := builtins[resource]; !ok {
		var err error
		if where, err = s.journal.where(resource); err != nil {
			return nil, err
		}
	}
	var out []runtime.Object
	var bad error
	s.store.Scan(prefix+"/"+where+"/", func(key string, value []byte, rev int64) {
		obj, err := s.journal.decode(key, value, rev)
		if err != nil {
			bad = err
			return
		}
		out = append(out, obj)
	})
	return out, bad
}

// where returns the prefix of a custom resource in the store.
func (j *journal) where(resource string) (string, error) {
	var found []string
	for gr := range j.custom {
		if resource == gr.Resource || resource == gr.String() {
			found = append(found, gr.Group+"/"+gr.Resource)
		}
	}
	slices.Sort(found)
	if len(found) != 1 {
		return "", fmt.Errorf("kube: list %s: want one resource, there are %d %v", resource, len(found), found)
	}
	return found[0], nil
}

func (j *journal) heard(e etcd.Event) {
	if len(j.subs) == 0 {
		return
	}
	c, ok := parse(e.Key)
	if !ok {
		return
	}
	c.Revision = e.Revision
	var err error
	if e.PrevRevision != 0 {
		c.Old, err = j.decode(e.Key, e.Prev, e.PrevRevision)
	}
	if e.Deleted {
		j.mu.Lock()
		delete(j.seen, e.Key)
		j.mu.Unlock()
	} else if err == nil {
		c.Object, err = j.decode(e.Key, e.Value, e.Revision)
	}
	if err != nil {
		panic(err) // the API server has just encoded it
	}
	for _, f := range j.subs {
		f(c)
	}
}

// parse is the inverse of backend.GetRESTOptions's naming of keys.
func parse(key string) (Change, bool) {
	f := strings.Split(strings.TrimPrefix(key, prefix+"/"), "/")
	var c Change
	if in, ok := builtins[f[0]]; ok {
		c.Group, c.Resource, f = in.gv.Group, f[0], f[1:]
	} else if len(f) > 2 {
		c.Group, c.Resource, f = f[0], f[1], f[2:]
	}
	switch len(f) {
	case 1:
		c.Name = f[0]
	case 2:
		c.Namespace, c.Name = f[0], f[1]
	default:
		return Change{}, false
	}
	return c, c.Resource != ""
}

// decode reads a stored object; the stored bytes do not contain the revision.
func (j *journal) decode(key string, value []byte, rev int64) (runtime.Object, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := j.seen[key]
	for _, d := range last {
		if d.rev == rev {
			return d.obj, nil
		}
	}
	dec := legacyscheme.Codecs.UniversalDeserializer()
	if _, ok := builtins[strings.Split(strings.TrimPrefix(key, prefix+"/"), "/")[0]]; !ok {
		dec = unstructured.UnstructuredJSONScheme
	}
	obj, _, err := dec.Decode(value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("kube: decode %s: %w", path.Clean(key), err)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, fmt.Errorf("kube: decode %s: %w", path.Clean(key), err)
	}
	m.SetResourceVersion(strconv.FormatInt(rev, 10))
	j.seen[key] = [2]known{{rev, obj}, last[0]}
	return obj, nil
}

// compactEvery is kube-apiserver's --etcd-compaction-interval.
const compactEvery = 5 * time.Minute

// compact deletes, every five virtual minutes, the history that is older than the interval, as
// a real API server does: a client that was away for longer gets 410, and the memory of a long
// run is bounded. It checks the clock at each change; without changes there is nothing to
// delete.
func (s *Server) compact() func(etcd.Event) {
	last, mark := time.Now(), int64(0)
	return func(e etcd.Event) {
		if time.Since(last) < compactEvery {
			return
		}
		if mark > 1 {
			_, _ = s.backend.client.KV.Compact(s.ctx, mark)
		}
		last, mark = time.Now(), e.Revision
	}
}
