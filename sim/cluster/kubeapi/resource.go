package kubeapi

import (
	"fmt"
	"maps"
	"strings"

	"ipamsim/sim/ipam"
)

// Resource is where objects of a kind live in the API.
type Resource struct {
	Root       string // "/api/v1" or "/apis/GROUP/VERSION"
	Plural     string // as in ippools
	Namespaced bool
	Alias      bool // a second form of a kind that has the same resource
}

// Resources that processes of the cluster's own work with.
var (
	Pods  = Resource{"/api/v1", "pods", true, false}
	Nodes = Resource{"/api/v1", "nodes", false, false}
)

// Path is the URL path of a collection, or of one object.
func (r Resource) Path(namespace, name string) string {
	p := r.Root
	if r.Namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + r.Plural
	if name != "" {
		p += "/" + name
	}
	return p
}

// Group is the API group, "" for the core group.
func (r Resource) Group() string {
	rest, _ := strings.CutPrefix(r.Root, "/apis/")
	group, _, _ := strings.Cut(rest, "/")
	return group
}

var builtin = map[string]Resource{
	"Pod":         Pods,
	"Node":        Nodes,
	"Namespace":   {"/api/v1", "namespaces", false, false},
	"Service":     {"/api/v1", "services", true, false},
	"IPAddress":   {"/apis/networking.k8s.io/v1", "ipaddresses", false, false},
	"ServiceCIDR": {"/apis/networking.k8s.io/v1", "servicecidrs", false, false},
	"ConfigMap":   {"/api/v1", "configmaps", true, false},
	"Lease":       {"/apis/coordination.k8s.io/v1", "leases", true, false},
	"StatefulSet": {"/apis/apps/v1", "statefulsets", true, false},
	"Deployment":  {"/apis/apps/v1", "deployments", true, false},
	"DaemonSet":   {"/apis/apps/v1", "daemonsets", true, false},
	"Job":         {"/apis/batch/v1", "jobs", true, false},
	"CronJob":     {"/apis/batch/v1", "cronjobs", true, false},

	"PodDisruptionBudget": {"/apis/policy/v1", "poddisruptionbudgets", true, false},
	"PriorityClass":       {"/apis/scheduling.k8s.io/v1", "priorityclasses", false, false},
	"ReplicaSet":          {"/apis/apps/v1", "replicasets", true, false},
	"ResourceQuota":       {"/api/v1", "resourcequotas", true, false},
	"LimitRange":          {"/api/v1", "limitranges", true, false},

	// With the simple controllers no pod waits for a volume.
	"PersistentVolumeClaim": {"/api/v1", "persistentvolumeclaims", true, false},

	// The simulator ignores these: every client is allowed everything.
	"Secret":             {"/api/v1", "secrets", true, false},
	"Role":               {"/apis/rbac.authorization.k8s.io/v1", "roles", true, false},
	"RoleBinding":        {"/apis/rbac.authorization.k8s.io/v1", "rolebindings", true, false},
	"ClusterRole":        {"/apis/rbac.authorization.k8s.io/v1", "clusterroles", false, false},
	"ClusterRoleBinding": {"/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", false, false},

	"NetworkAttachmentDefinition": {"/apis/k8s.cni.cncf.io/v1", "network-attachment-definitions", true, false},
}

// KindOf is the name under which Kinds lists the kind of a manifest: of two groups
// that have a kind of one name, one needs its group, as in
// IPPool.whereabouts.cni.cncf.io.
func KindOf[V any](kinds map[string]V, kind, apiVersion string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	if _, ok := kinds[kind+"."+group]; ok {
		return kind + "." + group
	}
	return kind
}

// Kinds lists what a scenario may store, by kind: what Kubernetes has and the custom
// resources of the manager. Of two definitions with one kind the later one has its name.
func Kinds(m *ipam.Manager) (map[string]Resource, error) {
	crds, err := m.Definitions()
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", m.Name, err)
	}
	kinds := maps.Clone(builtin)
	for _, crd := range crds {
		kind := crd.Spec.Names.Kind
		if other, ok := kinds[kind]; ok && other.Group() != crd.Spec.Group {
			kinds[kind+"."+other.Group()] = other
		}
		for _, v := range crd.Spec.Versions {
			if v.Storage {
				kinds[kind] = Resource{
					Root:   "/apis/" + crd.Spec.Group + "/" + v.Name,
					Plural: crd.Spec.Names.Plural, Namespaced: crd.Spec.Scope == "Namespaced",
				}
			}
		}
	}
	for kind, forms := range m.Aliases {
		for _, f := range forms {
			if f.Kind != kind {
				r := kinds[kind]
				r.Alias = true
				kinds[f.Kind] = r
			}
		}
	}
	return kinds, nil
}

// ByName finds a resource and its kind by its plural name, with or without its
// group, as kubectl accepts it: ippools, ippools.whereabouts.cni.cncf.io.
func ByName(kinds map[string]Resource, name string) (Resource, string, error) {
	for kind, r := range kinds {
		first := !strings.Contains(kind, ".") // see KindOf
		if !r.Alias && (r.Plural == name && first || r.Plural+"."+r.Group() == name) {
			return r, kind, nil
		}
	}
	return Resource{}, "", fmt.Errorf("the server doesn't have a resource type %q", name)
}
