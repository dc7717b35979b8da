package kube

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// untracked is the view that Kubernetes' field managers have of an object, by the schemas
// of its types. What they find out about a creation is dropped before it is stored (see
// repeatable), so an object that is being created looks empty to them: to go over its
// fields costs a third of the request. One that is stored or applied is seen as it is.
//
// Source: apimachinery, util/managedfields/internal, structuredMergeManager.Update.
type untracked struct {
	managedfields.TypeConverter
	deduced *typed.TypedValue // nothing, of a type without a schema
}

func newUntracked() untracked {
	nothing, err := typed.DeducedParseableType.FromUnstructured(map[string]any{})
	if err != nil {
		panic(err) // an empty object
	}
	return untracked{applyconfigurations.NewTypeConverter(legacyscheme.Scheme), nothing}
}

// ObjectToTyped knows a creation by its type, which an applied patch does not
// have yet, and by the UID that it lacks.
func (u untracked) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	_, applied := obj.(runtime.Unstructured)
	if _, binding := obj.(*corev1.Binding); binding {
		return u.deduced, nil // it is created with the pod's UID, and never stored
	}
	if m, err := meta.Accessor(obj); err == nil && !applied && m.GetUID() == "" {
		return u.nothing(obj), nil
	}
	return u.TypeConverter.ObjectToTyped(obj, opts...)
}

// nothing is an empty object of a type. What is applied is merged into it.
func (u untracked) nothing(obj runtime.Object) *typed.TypedValue {
	empty := &unstructured.Unstructured{Object: map[string]any{}}
	empty.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	if v, err := u.TypeConverter.ObjectToTyped(empty); err == nil {
		return v
	}
	return u.deduced
}
