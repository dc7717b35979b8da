package kube

import (
	"context"
	"net"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	policyclient "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	kubelet "k8s.io/kubernetes/pkg/kubelet/client"
	deployments "k8s.io/kubernetes/pkg/registry/apps/deployment/storage"
	replicasets "k8s.io/kubernetes/pkg/registry/apps/replicaset/storage"
	statefulsets "k8s.io/kubernetes/pkg/registry/apps/statefulset/storage"
	events "k8s.io/kubernetes/pkg/registry/core/event/storage"
	namespaces "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	nodes "k8s.io/kubernetes/pkg/registry/core/node/storage"
	pods "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	services "k8s.io/kubernetes/pkg/registry/core/service/storage"
	resourceclaims "k8s.io/kubernetes/pkg/registry/resource/resourceclaim/storage"
	csidrivers "k8s.io/kubernetes/pkg/registry/storage/csidriver/storage"
	csinodes "k8s.io/kubernetes/pkg/registry/storage/csinode/storage"
	csistoragecapacities "k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity/storage"
	volumeattachments "k8s.io/kubernetes/pkg/registry/storage/volumeattachment/storage"
)

func openPods(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	return podsWith(o, noBudgets{})
}

func podsWith(o generic.RESTOptionsGetter, b policyclient.PodDisruptionBudgetsGetter) (map[string]rest.Storage, error) {
	s, err := pods.NewStorage(o, nil, nil, b, anybody{}) // without a kubelet for logs and shells
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

// openControlledPods makes evictions respect PodDisruptionBudgets. Its client is the server's
// own, as in kube-apiserver.
func openControlledPods(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	c, err := policyclient.NewForConfig(Config(loopback{o.(*storages)}))
	if err != nil {
		return nil, err
	}
	return podsWith(o, c)
}

func openNamespaces(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, status, finalize, err := namespaces.NewREST(o)
	return map[string]rest.Storage{"namespaces": namespace{s}, "namespaces/status": status, "namespaces/finalize": finalize}, err
}

// openControlledNamespaces leaves the removal of namespaces to the namespace controller.
func openControlledNamespaces(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, status, finalize, err := namespaces.NewREST(o)
	return map[string]rest.Storage{"namespaces": s, "namespaces/status": status, "namespaces/finalize": finalize}, err
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

// openServices allocates cluster addresses from kubeadm's default range, IPv6 addresses for
// Services that request both families, and node ports from the default range. The allocators
// are in memory: there is one API server.
func openServices(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	ips := map[core.IPFamily]ipallocator.Interface{}
	for family, r := range map[core.IPFamily]string{core.IPv4Protocol: "10.96.0.0/12", core.IPv6Protocol: "fd00:10:96::/112"} {
		_, cidr, err := net.ParseCIDR(r)
		if err != nil {
			return nil, err
		}
		if ips[family], err = ipallocator.NewInMemory(cidr); err != nil {
			return nil, err
		}
	}
	ports, err := portallocator.NewInMemory(utilnet.PortRange{Base: 30000, Size: 2768})
	if err != nil {
		return nil, err
	}
	s, status, _, err := services.NewREST(o, core.IPv4Protocol, ips, ports, NoEndpoints{}, nil, nil)
	return map[string]rest.Storage{"services": s, "services/status": status}, err
}

// NoEndpoints is an empty storage of endpoints. The storage of Services reads EndpointSlices
// to proxy requests; up to 1.36 it reads Endpoints, and deletes the Endpoints of a deleted
// Service.
type NoEndpoints struct{}

// GetEndpointSlices returns an empty list.
func (NoEndpoints) GetEndpointSlices(string, string) ([]*discoveryv1.EndpointSlice, error) {
	return nil, nil
}

// Get returns a NotFound error.
func (NoEndpoints) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	return nil, apierrors.NewNotFound(core.Resource("endpoints"), name)
}

// Delete returns a NotFound error.
func (NoEndpoints) Delete(_ context.Context, name string, _ rest.ValidateObjectFunc, _ *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return nil, false, apierrors.NewNotFound(core.Resource("endpoints"), name)
}

// noBudgets is a cluster without PodDisruptionBudgets, for the eviction API.
type noBudgets struct {
	policyclient.PodDisruptionBudgetInterface
}

func (b noBudgets) PodDisruptionBudgets(string) policyclient.PodDisruptionBudgetInterface { return b }

func (noBudgets) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	return &policyv1.PodDisruptionBudgetList{}, nil
}

func openCSIDrivers(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := csidrivers.NewStorage(o)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"csidrivers": s.CSIDriver}, nil
}

func openCSINodes(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := csinodes.NewStorage(o)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"csinodes": s.CSINode}, nil
}

func openCSIStorageCapacities(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := csistoragecapacities.NewStorage(o)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"csistoragecapacities": s.CSIStorageCapacity}, nil
}

func openVolumeAttachments(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, err := volumeattachments.NewStorage(o)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"volumeattachments": s.VolumeAttachment, "volumeattachments/status": s.Status}, nil
}

// openResourceClaims has no namespaces. Upstream reads a namespace only for claims with
// administrator's access, which are refused.
func openResourceClaims(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	s, status, err := resourceclaims.NewREST(o, noNamespaces{}, anybody{})
	return map[string]rest.Storage{"resourceclaims": s, "resourceclaims/status": status}, err
}

// noNamespaces has no namespaces.
type noNamespaces struct{ coreclient.NamespaceInterface }

func (noNamespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
}

// anybody is an authorizer that allows every request: access is not simulated.
type anybody struct{}

// Authorize allows the request.
func (anybody) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}
