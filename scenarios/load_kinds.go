package scenarios

import (
	"reflect"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// kind is one kind of object that a manifest may be.
type kind struct {
	apiVersion string
	also       string // a second apiVersion in which it may be written, or ""
	plural     string // as in ippools
	group      string // "" for the core group
	namespaced bool
	typ        reflect.Type // nil: the API server checks it by its schema
}

// typed are the kinds whose Go types are known, so that an unknown field or a
// number where text belongs is found before anything runs.
var typed = map[string]struct {
	apiVersion, group string
	typ               reflect.Type
}{
	"Pod":         {"v1", "", reflect.TypeFor[corev1.Pod]()},
	"Node":        {"v1", "", reflect.TypeFor[corev1.Node]()},
	"Namespace":   {"v1", "", reflect.TypeFor[corev1.Namespace]()},
	"Service":     {"v1", "", reflect.TypeFor[corev1.Service]()},
	"ConfigMap":   {"v1", "", reflect.TypeFor[corev1.ConfigMap]()},
	"Lease":       {"coordination.k8s.io/v1", "coordination.k8s.io", reflect.TypeFor[coordinationv1.Lease]()},
	"StatefulSet": {"apps/v1", "apps", reflect.TypeFor[appsv1.StatefulSet]()},
	"Deployment":  {"apps/v1", "apps", reflect.TypeFor[appsv1.Deployment]()},
	"DaemonSet":   {"apps/v1", "apps", reflect.TypeFor[appsv1.DaemonSet]()},
	"Job":         {"batch/v1", "batch", reflect.TypeFor[batchv1.Job]()},
	"CronJob":     {"batch/v1", "batch", reflect.TypeFor[batchv1.CronJob]()},

	"PodDisruptionBudget": {"policy/v1", "policy", reflect.TypeFor[policyv1.PodDisruptionBudget]()},
	"PriorityClass":       {"scheduling.k8s.io/v1", "scheduling.k8s.io", reflect.TypeFor[schedulingv1.PriorityClass]()},
	"ReplicaSet":          {"apps/v1", "apps", reflect.TypeFor[appsv1.ReplicaSet]()},
	"ResourceQuota":       {"v1", "", reflect.TypeFor[corev1.ResourceQuota]()},
	"LimitRange":          {"v1", "", reflect.TypeFor[corev1.LimitRange]()},

	"PersistentVolumeClaim": {"v1", "", reflect.TypeFor[corev1.PersistentVolumeClaim]()},

	"IPAddress":   {"networking.k8s.io/v1", "networking.k8s.io", reflect.TypeFor[networkingv1.IPAddress]()},
	"ServiceCIDR": {"networking.k8s.io/v1", "networking.k8s.io", reflect.TypeFor[networkingv1.ServiceCIDR]()},

	"Secret":             {"v1", "", reflect.TypeFor[corev1.Secret]()},
	"Role":               {rbacVersion, rbacv1.GroupName, reflect.TypeFor[rbacv1.Role]()},
	"RoleBinding":        {rbacVersion, rbacv1.GroupName, reflect.TypeFor[rbacv1.RoleBinding]()},
	"ClusterRole":        {rbacVersion, rbacv1.GroupName, reflect.TypeFor[rbacv1.ClusterRole]()},
	"ClusterRoleBinding": {rbacVersion, rbacv1.GroupName, reflect.TypeFor[rbacv1.ClusterRoleBinding]()},

	"NetworkAttachmentDefinition": {"k8s.cni.cncf.io/v1", "k8s.cni.cncf.io", reflect.TypeFor[nadv1.NetworkAttachmentDefinition]()},
}

const rbacVersion = rbacv1.GroupName + "/v1"

// realOnly are the kinds that only Kubernetes' own controllers act on, and what the simple
// ones lack.
var realOnly = map[string]string{
	"PodDisruptionBudget": "evictions do not meet budgets",
	"PriorityClass":       "nothing is preempted",
	"ReplicaSet":          "nothing makes its pods: use a Deployment",
	"ResourceQuota":       "nothing is counted",
	"LimitRange":          "nothing is limited",
}

// kindsOf lists what the API server of a run with this adapter will serve.
func kindsOf(m *ipam.Manager) (map[string]kind, error) {
	served, err := kubeapi.Kinds(m)
	if err != nil {
		return nil, err
	}
	crds, err := m.Definitions()
	if err != nil {
		return nil, err
	}
	out := map[string]kind{}
	for name, r := range served {
		t := typed[name]
		out[name] = kind{apiVersion: t.apiVersion, group: t.group, typ: t.typ, plural: r.Plural, namespaced: r.Namespaced}
	}
	for _, crd := range crds {
		name := kubeapi.KindOf(served, crd.Spec.Names.Kind, crd.Spec.Group)
		k := out[name]
		k.group, k.typ = crd.Spec.Group, nil
		for _, v := range crd.Spec.Versions {
			if v.Storage {
				k.apiVersion = crd.Spec.Group + "/" + v.Name
			}
		}
		out[name] = k
	}
	for name, forms := range m.Aliases {
		for _, f := range forms {
			k := out[name]
			if k.also = f.APIVersion; f.Kind != name {
				k.apiVersion, k.also = f.APIVersion, ""
			}
			out[f.Kind] = k
		}
	}
	return out, nil
}

// resources are the names by which an operator may call what is served: ippools,
// ippools.whereabouts.cni.cncf.io.
func (l *loader) resources() []string {
	var out []string
	for _, k := range l.kinds {
		out = append(out, k.plural)
		if k.group != "" {
			out = append(out, k.plural+"."+k.group)
		}
	}
	return out
}
