package kube

import (
	"fmt"
	"net/http"
	"reflect"
	"sync/atomic"
	"unsafe"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/generic"
)

// definitions are custom resources with their handler, which consecutive runs share.
type definitions struct {
	given       []*apiextv1.CustomResourceDefinition
	established map[schema.GroupResource]*apiextv1.CustomResourceDefinition
	open        map[schema.GroupResource]bool
	handler     http.Handler
}

// define creates the handler, which builds nothing yet. Call it outside of bubbles.
func define(crds []*apiextv1.CustomResourceDefinition, o generic.RESTOptionsGetter, a admission.Interface) (*definitions, error) {
	d := &definitions{
		given: crds, established: map[schema.GroupResource]*apiextv1.CustomResourceDefinition{}, open: map[schema.GroupResource]bool{},
	}
	var all []*apiextv1.CustomResourceDefinition
	for _, c := range crds {
		e := established(c)
		all = append(all, e)
		d.established[schema.GroupResource{Group: c.Spec.Group, Resource: c.Spec.Names.Plural}] = e
	}
	var err error
	d.handler, err = newCustom(o, a, all, http.HandlerFunc(unknown))
	return d, err
}

// build makes the handler build what it needs to serve a resource. It calls the method that
// upstream has for the controller that empties a resource.
func (d *definitions) build(gr schema.GroupResource) error {
	h, ok := d.handler.(interface {
		GetCustomResourceListerCollectionDeleter(*apiextv1.CustomResourceDefinition) (finalizer.ListerCollectionDeleter, error)
	})
	if !ok {
		return fmt.Errorf("kube: %T builds nothing before it is asked", d.handler)
	}
	_, err := h.GetCustomResourceListerCollectionDeleter(d.established[gr])
	d.open[gr] = err == nil
	return err
}

// renew gives every resource a new group to count its requests in, because a sync.WaitGroup
// belongs to the bubble of its first use.
//
// Source: apiextensions-apiserver, pkg/apiserver/customresource_handler.go, crdInfo (v0.37.2).
func (d *definitions) renew() {
	stored := reflect.ValueOf(d.handler).Elem().FieldByName("customStorage")
	all := (*atomic.Value)(unsafe.Pointer(stored.UnsafeAddr())).Load()
	for it := reflect.ValueOf(all).MapRange(); it.Next(); {
		group := it.Value().Elem().FieldByName("waitGroup")
		reflect.NewAt(group.Type(), unsafe.Pointer(group.UnsafeAddr())).Elem().Set(reflect.New(group.Type().Elem()))
	}
}
