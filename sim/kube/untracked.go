package kube

import (
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// untracked is the view that Kubernetes' field managers have of an object, by the schemas of
// its types. repeatable drops their result for a creation, so they get an empty object:
// traversing its fields costs a third of the request. A stored or applied object is passed
// unchanged.
//
// Source: apimachinery, util/managedfields/internal, structuredMergeManager.Update.
type untracked struct{ deduced *typed.TypedValue } // an empty value, of a type without a schema

func newUntracked() untracked {
	nothing, err := typed.DeducedParseableType.FromUnstructured(map[string]any{})
	if err != nil {
		panic(err) // an empty object
	}
	return untracked{nothing}
}

// schemas are those of Kubernetes' types. They are read at the first apply, because that takes
// 200 ms.
var schemas = sync.OnceValue(func() managedfields.TypeConverter {
	schemasRead.Store(true)
	return applyconfigurations.NewTypeConverter(legacyscheme.Scheme)
})

var schemasRead atomic.Bool

// ObjectToTyped identifies a creation by its type, which an applied patch does not have yet,
// and by the missing UID.
func (u untracked) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	_, applied := obj.(runtime.Unstructured)
	if _, binding := obj.(*corev1.Binding); binding {
		return u.deduced, nil // created with the pod's UID, and never stored
	}
	if m, err := meta.Accessor(obj); err == nil && !applied && m.GetUID() == "" {
		return u.nothing(obj), nil
	}
	return schemas().ObjectToTyped(obj, opts...)
}

// TypedToObject returns the merged object.
func (untracked) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return schemas().TypedToObject(v)
}

// nothing returns an empty object of a type. An apply is merged into it and requests it first;
// without an apply it is only compared with others of its kind.
func (u untracked) nothing(obj runtime.Object) *typed.TypedValue {
	if !schemasRead.Load() {
		return u.deduced
	}
	empty := &unstructured.Unstructured{Object: map[string]any{}}
	empty.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	if v, err := schemas().ObjectToTyped(empty); err == nil {
		return v
	}
	return u.deduced
}
