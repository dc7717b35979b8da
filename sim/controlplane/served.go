package controlplane

import (
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// served is discovery without a message: the served resources do not change.
type served struct{ lists []*metav1.APIResourceList }

var _ discovery.ServerResourcesInterface = served{}

// has reports whether a resource of the core group is served.
func (s served) has(resource string) bool {
	l, err := s.ServerResourcesForGroupVersion("v1")
	return err == nil && slices.ContainsFunc(l.APIResources, func(r metav1.APIResource) bool { return r.Name == resource })
}

func (s served) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	for _, l := range s.lists {
		if l.GroupVersion == gv {
			return l, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, gv)
}

func (s served) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return nil, s.lists, nil
}

func (s served) ServerPreferredResources() ([]*metav1.APIResourceList, error) { return s.lists, nil }

func (s served) ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error) {
	return discovery.FilteredBy(discovery.ResourcePredicateFunc(func(_ string, r *metav1.APIResource) bool { return r.Namespaced }), s.lists), nil
}

// ScaleForResource returns the kind of a scale subresource.
func (s served) ScaleForResource(schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale"), nil
}

// mapper maps resources to kinds and back.
func (s served) mapper() meta.ResettableRESTMapper {
	var groups []*restmapper.APIGroupResources
	at := map[string]*restmapper.APIGroupResources{}
	for _, l := range s.lists {
		gv, _ := schema.ParseGroupVersion(l.GroupVersion) // written by the server
		g := at[gv.Group]
		if g == nil {
			g = &restmapper.APIGroupResources{Group: metav1.APIGroup{Name: gv.Group}, VersionedResources: map[string][]metav1.APIResource{}}
			at[gv.Group] = g
			groups = append(groups, g)
		}
		g.Group.Versions = append(g.Group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: l.GroupVersion, Version: gv.Version})
		g.Group.PreferredVersion = g.Group.Versions[0]
		g.VersionedResources[gv.Version] = l.APIResources
	}
	return mapper{restmapper.NewDiscoveryRESTMapper(groups)}
}

type mapper struct{ meta.RESTMapper }

// Reset does nothing.
func (mapper) Reset() {}
