package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"

	// Each registers its internal types, conversions and defaults.
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"

	controllerrevisions "k8s.io/kubernetes/pkg/registry/apps/controllerrevision/storage"
	daemonsets "k8s.io/kubernetes/pkg/registry/apps/daemonset/storage"
	cronjobs "k8s.io/kubernetes/pkg/registry/batch/cronjob/storage"
	jobs "k8s.io/kubernetes/pkg/registry/batch/job/storage"
	leases "k8s.io/kubernetes/pkg/registry/coordination/lease/storage"
	configmaps "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	limitranges "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	persistentvolumes "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	persistentvolumeclaims "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	replicationcontrollers "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	resourcequotas "k8s.io/kubernetes/pkg/registry/core/resourcequota/storage"
	secrets "k8s.io/kubernetes/pkg/registry/core/secret/storage"
	ipaddresses "k8s.io/kubernetes/pkg/registry/networking/ipaddress/storage"
	servicecidrs "k8s.io/kubernetes/pkg/registry/networking/servicecidr/storage"
	budgets "k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget/storage"
	clusterroles "k8s.io/kubernetes/pkg/registry/rbac/clusterrole/storage"
	clusterrolebindings "k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding/storage"
	roles "k8s.io/kubernetes/pkg/registry/rbac/role/storage"
	rolebindings "k8s.io/kubernetes/pkg/registry/rbac/rolebinding/storage"
	deviceclasses "k8s.io/kubernetes/pkg/registry/resource/deviceclass/storage"
	devicetaintrules "k8s.io/kubernetes/pkg/registry/resource/devicetaintrule/storage"
	resourceslices "k8s.io/kubernetes/pkg/registry/resource/resourceslice/storage"
	priorityclasses "k8s.io/kubernetes/pkg/registry/scheduling/priorityclass/storage"
	storageclasses "k8s.io/kubernetes/pkg/registry/storage/storageclass/storage"
)

// builtin is one resource of Kubernetes with its subresources, served by its real registry.
// The first request builds the registry, so a process builds only those that it needs.
type builtin struct {
	gv   schema.GroupVersion
	open func(generic.RESTOptionsGetter) (map[string]rest.Storage, error)
	// controlled opens the resource under ForControllers; nil: as open does.
	controlled func(generic.RESTOptionsGetter) (map[string]rest.Storage, error)
	// remembers: the registry has state outside etcd, so each run opens its own.
	remembers bool
}

// builtins are the served resources, by plural.
var builtins = map[string]builtin{
	"configmaps":   {gv: corev1.SchemeGroupVersion, open: one("configmaps", configmaps.NewREST)},
	"cronjobs":     {gv: batchv1.SchemeGroupVersion, open: two("cronjobs", cronjobs.NewREST)},
	"daemonsets":   {gv: appsv1.SchemeGroupVersion, open: two("daemonsets", daemonsets.NewREST)},
	"deployments":  {gv: appsv1.SchemeGroupVersion, open: openDeployments},
	"events":       {gv: corev1.SchemeGroupVersion, open: openEvents},
	"ipaddresses":  {gv: networkingv1.SchemeGroupVersion, open: one("ipaddresses", ipaddresses.NewREST)},
	"jobs":         {gv: batchv1.SchemeGroupVersion, open: two("jobs", jobs.NewREST)},
	"leases":       {gv: coordinationv1.SchemeGroupVersion, open: one("leases", leases.NewREST)},
	"namespaces":   {gv: corev1.SchemeGroupVersion, open: openNamespaces, controlled: openControlledNamespaces},
	"nodes":        {gv: corev1.SchemeGroupVersion, open: openNodes},
	"pods":         {gv: corev1.SchemeGroupVersion, open: openPods, controlled: openControlledPods},
	"replicasets":  {gv: appsv1.SchemeGroupVersion, open: openReplicaSets},
	"servicecidrs": {gv: networkingv1.SchemeGroupVersion, open: two("servicecidrs", servicecidrs.NewREST)},
	"services":     {gv: corev1.SchemeGroupVersion, open: openServices, remembers: true},
	"statefulsets": {gv: appsv1.SchemeGroupVersion, open: openStatefulSets},

	// Other resources that Kubernetes' own controllers and scheduler list and watch.
	"controllerrevisions":    {gv: appsv1.SchemeGroupVersion, open: one("controllerrevisions", controllerrevisions.NewREST)},
	"csidrivers":             {gv: storagev1.SchemeGroupVersion, open: openCSIDrivers},
	"csinodes":               {gv: storagev1.SchemeGroupVersion, open: openCSINodes},
	"csistoragecapacities":   {gv: storagev1.SchemeGroupVersion, open: openCSIStorageCapacities},
	"deviceclasses":          {gv: resourcev1.SchemeGroupVersion, open: one("deviceclasses", deviceclasses.NewREST)},
	"devicetaintrules":       {gv: resourcev1.SchemeGroupVersion, open: two("devicetaintrules", devicetaintrules.NewRESTv1)},
	"persistentvolumeclaims": {gv: corev1.SchemeGroupVersion, open: two("persistentvolumeclaims", persistentvolumeclaims.NewREST)},
	"persistentvolumes":      {gv: corev1.SchemeGroupVersion, open: two("persistentvolumes", persistentvolumes.NewREST)},
	"poddisruptionbudgets":   {gv: policyv1.SchemeGroupVersion, open: two("poddisruptionbudgets", budgets.NewREST)},
	"priorityclasses":        {gv: schedulingv1.SchemeGroupVersion, open: one("priorityclasses", priorityclasses.NewREST)},
	"replicationcontrollers": {gv: corev1.SchemeGroupVersion, open: two("replicationcontrollers", replicationcontrollers.NewREST)},
	"resourceclaims":         {gv: resourcev1.SchemeGroupVersion, open: openResourceClaims},
	"resourceslices":         {gv: resourcev1.SchemeGroupVersion, open: one("resourceslices", resourceslices.NewREST)},
	"storageclasses":         {gv: storagev1.SchemeGroupVersion, open: one("storageclasses", storageclasses.NewREST)},
	"volumeattachments":      {gv: storagev1.SchemeGroupVersion, open: openVolumeAttachments},

	// Other resources in manifests: admission reads the first two, the rest have no effect.
	"limitranges":         {gv: corev1.SchemeGroupVersion, open: one("limitranges", limitranges.NewREST)},
	"resourcequotas":      {gv: corev1.SchemeGroupVersion, open: two("resourcequotas", resourcequotas.NewREST)},
	"clusterrolebindings": {gv: rbacv1.SchemeGroupVersion, open: one("clusterrolebindings", clusterrolebindings.NewREST)},
	"clusterroles":        {gv: rbacv1.SchemeGroupVersion, open: one("clusterroles", clusterroles.NewREST)},
	"rolebindings":        {gv: rbacv1.SchemeGroupVersion, open: one("rolebindings", rolebindings.NewREST)},
	"roles":               {gv: rbacv1.SchemeGroupVersion, open: one("roles", roles.NewREST)},
	"secrets":             {gv: corev1.SchemeGroupVersion, open: one("secrets", secrets.NewREST)},
}

// clusterScoped are the builtins without a namespace.
var clusterScoped = map[string]bool{
	"clusterrolebindings": true, "clusterroles": true, "csidrivers": true, "csinodes": true, "deviceclasses": true, "devicetaintrules": true, "ipaddresses": true, "namespaces": true,
	"nodes": true, "persistentvolumes": true, "priorityclasses": true, "resourceslices": true, "servicecidrs": true, "storageclasses": true, "volumeattachments": true,
}

// one opens a registry without subresources.
func one[S rest.Storage](name string, open func(generic.RESTOptionsGetter) (S, error)) func(generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	return func(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
		s, err := open(o)
		return map[string]rest.Storage{name: s}, err
	}
}

// two opens a registry whose only subresource is status.
func two[S, T rest.Storage](name string, open func(generic.RESTOptionsGetter) (S, T, error)) func(generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	return func(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
		s, status, err := open(o)
		return map[string]rest.Storage{name: s, name + "/status": status}, err
	}
}
