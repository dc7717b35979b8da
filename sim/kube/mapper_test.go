package kube

import (
	"testing"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Every resource that is served has one kind, by which the mapper finds it again.
func TestMapper(t *testing.T) {
	pool := &apiextv1.CustomResourceDefinition{Spec: apiextv1.CustomResourceDefinitionSpec{
		Group: "firstfree.example.com", Scope: apiextv1.ClusterScoped, Names: apiextv1.CustomResourceDefinitionNames{Kind: "Pool", Plural: "pools"},
		Versions: []apiextv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v0"}},
	}}
	m := (&Server{crds: []*apiextv1.CustomResourceDefinition{pool}}).Mapper()
	for plural, in := range builtins {
		k := kindOf(plural, in.gv)
		got, err := m.RESTMapping(k.GroupKind(), k.Version)
		if err != nil || got.Resource != in.gv.WithResource(plural) {
			t.Errorf("%s: %v leads to %v (%v)", plural, k, got, err)
		}
	}
	kind := schema.GroupKind{Group: "firstfree.example.com", Kind: "Pool"}
	got, err := m.RESTMapping(kind)
	if err != nil || got.Resource.Resource != "pools" || got.Resource.Version != "v1" || got.Scope.Name() != meta.RESTScopeNameRoot {
		t.Errorf("Pool leads to %v (%v)", got, err)
	}
	if _, err := m.RESTMapping(kind, "v0"); err == nil {
		t.Error("a version that is not served is found")
	}
}
