package calico

import (
	"context"
	"fmt"

	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/conversion"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
)

// A pod's WorkloadEndpoint matters to IPAM: with etcdv3 the deletion of a Calico
// node releases the addresses that its endpoints name, with Kubernetes it is the
// pod's own annotations, by which the garbage collector knows its addresses.

// findEndpoint reads the pod's endpoint, nil if it has none. With the Kubernetes
// datastore every pod has one.
//
// Source: cni-plugin/pkg/plugin/plugin.go, cmdAdd.
func (p *plugin) findEndpoint(ctx context.Context) (*libapi.WorkloadEndpoint, error) {
	ids := p.ids
	ids.Endpoint = ""
	prefix, err := ids.CalculateWorkloadEndpointName(true)
	if err != nil {
		return nil, fmt.Errorf("error constructing WorkloadEndpoint prefix: %w", err)
	}
	ctx = resources.ContextWithWorkloadEndpointListMode(ctx, resources.WorkloadEndpointListModeForceGet)
	all, err := p.calico.WorkloadEndpoints().List(ctx, options.ListOptions{Name: prefix, Namespace: p.call.Pod.Namespace, Prefix: true})
	if err != nil {
		return nil, err
	}
	for i := range all.Items {
		match, err := ids.NameMatches(all.Items[i].Name)
		if err != nil {
			return nil, fmt.Errorf("invalid WorkloadEndpoint identifiers: %v", ids)
		}
		if match {
			p.ids.Endpoint = all.Items[i].Spec.Endpoint
			return &all.Items[i], nil
		}
	}
	return nil, nil
}

// containerMAC stands for the address that the kernel draws for the pod's end.
const containerMAC = "ee:ee:ee:ee:ee:ee"

// storeEndpoint writes the endpoint with its addresses, and gives them back if it
// cannot.
//
// Source: cni-plugin/pkg/k8s/k8s.go, CmdAddK8s.
func (p *plugin) storeEndpoint(ctx context.Context, wep *libapi.WorkloadEndpoint, pod *podFacts, r *cniv1.Result) error {
	name, err := p.ids.CalculateWorkloadEndpointName(false)
	if err != nil {
		return fmt.Errorf("error constructing WorkloadEndpoint name: %w", err)
	}
	if wep == nil {
		wep = libapi.NewWorkloadEndpoint()
	}
	wep.Name, wep.Namespace, wep.GenerateName, wep.Labels = name, p.call.Pod.Namespace, pod.generateName, pod.labels
	s := &wep.Spec
	s.Endpoint, s.Node, s.Orchestrator, s.Pod = p.ids.Endpoint, p.ids.Node, p.ids.Orchestrator, p.ids.Pod
	s.Ports, s.ServiceAccountName, s.Profiles = pod.ports, pod.serviceAccount, pod.profiles
	s.IPNetworks, s.MAC, s.ContainerID = []string{}, containerMAC, p.call.Container
	s.InterfaceName = conversion.NewConverter().VethNameForWorkload(p.call.Pod.Namespace, p.call.Pod.Name)
	if err := populateEndpoint(wep, r); err != nil {
		_ = p.ipamDel(ctx)
		return err
	}
	if _, err := writeEndpoint(resources.ContextWithPatchMode(ctx, resources.PatchModeCNI), p.calico, wep); err != nil {
		_ = p.ipamDel(ctx) // upstream logs its failure
		return err
	}
	return nil
}

// deleteTries is how often upstream tries again after a conflict.
const deleteTries = 5

// deleteEndpoint deletes the pod's endpoint, unless it has become another
// sandbox's.
//
// Source: cni-plugin/pkg/k8s/k8s.go, CmdDelK8s.
func (p *plugin) deleteEndpoint(ctx context.Context) error {
	name, err := p.ids.CalculateWorkloadEndpointName(false)
	if err != nil {
		return fmt.Errorf("error constructing WorkloadEndpoint name: %w", err)
	}
	for left := deleteTries; ; left-- {
		wep, err := p.calico.WorkloadEndpoints().Get(ctx, p.call.Pod.Namespace, name, options.GetOptions{})
		if missing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if wep.Spec.ContainerID != "" && wep.Spec.ContainerID != p.call.Container {
			return nil
		}
		_, err = p.calico.WorkloadEndpoints().Delete(ctx, wep.Namespace, wep.Name,
			options.DeleteOptions{ResourceVersion: wep.ResourceVersion, UID: &wep.UID})
		switch err.(type) {
		case nil, cerrors.ErrorResourceDoesNotExist, cerrors.ErrorOperationNotSupported:
			return nil
		case cerrors.ErrorResourceUpdateConflict:
			if left == 0 {
				return fmt.Errorf("error deleting endpoint: endpoint was modified before it could be deleted: %w", err)
			}
		default:
			return err
		}
	}
}

// missing is upstream's own test, which does not look into wrapped errors.
func missing(err error) bool {
	_, ok := err.(cerrors.ErrorResourceDoesNotExist)
	return ok
}
