package kube

import (
	"context"
	"net"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	policyclient "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/kubernetes/pkg/apis/core"

	// Each registers its internal types, conversions and defaults.
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"

	kubelet "k8s.io/kubernetes/pkg/kubelet/client"
	daemonsets "k8s.io/kubernetes/pkg/registry/apps/daemonset/storage"
	deployments "k8s.io/kubernetes/pkg/registry/apps/deployment/storage"
	replicasets "k8s.io/kubernetes/pkg/registry/apps/replicaset/storage"
	statefulsets "k8s.io/kubernetes/pkg/registry/apps/statefulset/storage"
	cronjobs "k8s.io/kubernetes/pkg/registry/batch/cronjob/storage"
	jobs "k8s.io/kubernetes/pkg/registry/batch/job/storage"
	leases "k8s.io/kubernetes/pkg/registry/coordination/lease/storage"
	configmaps "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	events "k8s.io/kubernetes/pkg/registry/core/event/storage"
	namespaces "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	nodes "k8s.io/kubernetes/pkg/registry/core/node/storage"
	pods "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	services "k8s.io/kubernetes/pkg/registry/core/service/storage"
)

// builtin is one resource of Kubernetes itself, with its subresources, served by
// its real registry. A registry is built at the first request for it: a process
// pays for what it uses.
type builtin struct {
	gv   schema.GroupVersion
	open func(generic.RESTOptionsGetter) (map[string]rest.Storage, error)
	// remembers says that the registry holds more than etcd does: each run opens
	// its own.
	remembers bool
}

// builtins are the resources served, by plural.
var builtins = map[string]builtin{
	"configmaps":   {gv: corev1.SchemeGroupVersion, open: one("configmaps", configmaps.NewREST)},
	"cronjobs":     {gv: batchv1.SchemeGroupVersion, open: two("cronjobs", cronjobs.NewREST)},
	"daemonsets":   {gv: appsv1.SchemeGroupVersion, open: two("daemonsets", daemonsets.NewREST)},
	"deployments":  {gv: appsv1.SchemeGroupVersion, open: openDeployments},
	"events":       {gv: corev1.SchemeGroupVersion, open: openEvents},
	"jobs":         {gv: batchv1.SchemeGroupVersion, open: two("jobs", jobs.NewREST)},
	"leases":       {gv: coordinationv1.SchemeGroupVersion, open: one("leases", leases.NewREST)},
	"namespaces":   {gv: corev1.SchemeGroupVersion, open: openNamespaces},
	"nodes":        {gv: corev1.SchemeGroupVersion, open: openNodes},
	"pods":         {gv: corev1.SchemeGroupVersion, open: openPods},
	"replicasets":  {gv: appsv1.SchemeGroupVersion, open: openReplicaSets},
	"services":     {gv: corev1.SchemeGroupVersion, open: openServices, remembers: true},
	"statefulsets": {gv: appsv1.SchemeGroupVersion, open: openStatefulSets},
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

func openPods(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := pods.NewStorage(o, nil, nil, noBudgets{}) // no kubelet to proxy logs and shells to
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"pods": s.Pod, "pods/status": s.Status, "pods/binding": s.Binding, "pods/eviction": s.Eviction,
		"pods/ephemeralcontainers": s.EphemeralContainers, "pods/resize": s.Resize,
	}, nil
}

func openNodes(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := nodes.NewStorage(o, kubelet.KubeletClientConfig{}, nil)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"nodes": s.Node, "nodes/status": s.Status}, nil
}

func openNamespaces(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, status, finalize, err := namespaces.NewREST(o)
	return map[string]rest.Storage{"namespaces": namespace{s}, "namespaces/status": status, "namespaces/finalize": finalize}, err
}

// namespace goes at the first request. A real one only begins to go, is emptied
// and taken off its finalizer by a controller, and goes at that one's request.
type namespace struct{ *namespaces.REST }

func (n namespace) Delete(ctx context.Context, name string, ok rest.ValidateObjectFunc, o *metav1.DeleteOptions) (runtime.Object, bool, error) {
	obj, gone, err := n.REST.Delete(ctx, name, ok, o)
	if err != nil || gone {
		return obj, gone, err
	}
	return n.REST.Delete(ctx, name, ok, &metav1.DeleteOptions{DryRun: o.DryRun})
}

// openEvents keeps events for an hour of virtual time, kube-apiserver's default.
func openEvents(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := events.NewREST(o, 3600)
	return map[string]rest.Storage{"events": s}, err
}

func openStatefulSets(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := statefulsets.NewStorage(o)
	return map[string]rest.Storage{"statefulsets": s.StatefulSet, "statefulsets/status": s.Status, "statefulsets/scale": s.Scale}, err
}

func openDeployments(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := deployments.NewStorage(o)
	return map[string]rest.Storage{"deployments": s.Deployment, "deployments/status": s.Status, "deployments/scale": s.Scale}, err
}

func openReplicaSets(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := replicasets.NewStorage(o)
	return map[string]rest.Storage{"replicasets": s.ReplicaSet, "replicasets/status": s.Status, "replicasets/scale": s.Scale}, err
}

// openServices hands out cluster addresses from kubeadm's default range and node
// ports from the default range, kept in memory: there is one API server.
func openServices(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	_, cidr, err := net.ParseCIDR("10.96.0.0/12")
	if err != nil {
		return nil, err
	}
	ips, err := ipallocator.NewInMemory(cidr)
	if err != nil {
		return nil, err
	}
	ports, err := portallocator.NewInMemory(utilnet.PortRange{Base: 30000, Size: 2768})
	if err != nil {
		return nil, err
	}
	s, status, _, err := services.NewREST(o, core.IPv4Protocol, map[core.IPFamily]ipallocator.Interface{core.IPv4Protocol: ips}, ports, nil, nil, nil)
	return map[string]rest.Storage{"services": s, "services/status": status}, err
}

// noBudgets is a cluster without PodDisruptionBudgets, for the eviction API.
type noBudgets struct {
	policyclient.PodDisruptionBudgetInterface
}

func (b noBudgets) PodDisruptionBudgets(string) policyclient.PodDisruptionBudgetInterface { return b }

func (noBudgets) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	return &policyv1.PodDisruptionBudgetList{}, nil
}
