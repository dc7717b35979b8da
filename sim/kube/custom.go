package kube

import (
	_ "embed"
	"fmt"
	"net/http"
	"sync"
	"time"

	apiextinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"
)

//go:embed upstream/networks-crd.yaml
var networksCRD []byte

// networkAttachmentDefinition is upstream's own definition
// (network-attachment-definition-client, artifacts/networks-crd.yaml).
var networkAttachmentDefinition = sync.OnceValues(func() (*apiextv1.CustomResourceDefinition, error) {
	return ParseCRD(networksCRD)
})

// ParseCRD reads a CustomResourceDefinition from YAML, strictly.
func ParseCRD(doc []byte) (*apiextv1.CustomResourceDefinition, error) {
	crd := &apiextv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(doc, crd); err != nil {
		return nil, fmt.Errorf("custom resource definition: %w", err)
	}
	return crd, nil
}

// newCustom returns the real custom-resource handler of apiextensions-apiserver for a fixed
// list of established definitions.
func newCustom(o generic.RESTOptionsGetter, a admission.Interface, crds []*apiextv1.CustomResourceDefinition, next http.Handler) (http.Handler, error) {
	list := &fixed{definitions: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	for _, c := range crds {
		if err := list.definitions.Add(c); err != nil {
			return nil, err
		}
	}
	// The nils: discovery of versions and of groups, the establishing controller, conversion webhooks and their authentication, and the OpenAPI of
	// built-in types. None of them is reached.
	return apiserver.NewCustomResourceDefinitionHandler(nil, nil, list, next, o, a, nil, nil, nil, 1, authorizer.AuthorizerFunc(allow),
		60*time.Second, watchTimeoutMin, nil, bodyMax)
}

var crdScheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	apiextinstall.Install(s)
	return s
})

// established applies the real defaults and sets the status that a real server's controllers
// set. The time is long before the run: the handler delays requests for a definition younger
// than 2 s.
func established(crd *apiextv1.CustomResourceDefinition) *apiextv1.CustomResourceDefinition {
	e := crd.DeepCopy()
	crdScheme().Default(e)
	e.UID = types.UID("crd-" + e.Name)
	e.Status.AcceptedNames = e.Spec.Names
	for _, t := range []apiextv1.CustomResourceDefinitionConditionType{apiextv1.NamesAccepted, apiextv1.Established} {
		e.Status.Conditions = append(e.Status.Conditions, apiextv1.CustomResourceDefinitionCondition{
			Type: t, Status: apiextv1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Unix(1, 0)),
		})
	}
	for _, v := range e.Spec.Versions {
		if v.Storage {
			e.Status.StoredVersions = []string{v.Name}
		}
	}
	return e
}

// fixed replaces the informer of definitions, without a store, a goroutine or changes.
type fixed struct {
	cache.SharedIndexInformer // nil: the handler calls only the methods below
	definitions               cache.Indexer
}

var _ informers.CustomResourceDefinitionInformer = (*fixed)(nil)

func (f *fixed) Informer() cache.SharedIndexInformer { return f }

func (f *fixed) Lister() listers.CustomResourceDefinitionLister {
	return listers.NewCustomResourceDefinitionLister(f.definitions)
}

func (f *fixed) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return nil, nil
}

func (f *fixed) GetIndexer() cache.Indexer { return f.definitions }

func (f *fixed) HasSynced() bool { return true }
