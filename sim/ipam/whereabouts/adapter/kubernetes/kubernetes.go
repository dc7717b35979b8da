// Package kubernetes makes clientsets for the Kubernetes API that have only the groups
// that upstream uses: those are the real ones, but a clientset of all 50 costs more than
// an ADD.
package kubernetes

import (
	real "k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// Interface is client-go's.
type Interface = real.Interface

// clientset holds two groups; asking for another one is a nil dereference.
type clientset struct {
	real.Interface
	core   coreclient.CoreV1Interface
	leases coordinationclient.CoordinationV1Interface
}

func (c clientset) CoreV1() coreclient.CoreV1Interface                         { return c.core }
func (c clientset) CoordinationV1() coordinationclient.CoordinationV1Interface { return c.leases }

// NewForConfig makes a clientset. As upstream sets no rate limit, client-go gives every
// group its own of 5 requests a second, burst 10.
//
// Source: client-go/kubernetes, NewForConfig; client-go/rest, RESTClientForConfigAndClient.
func NewForConfig(c *rest.Config) (Interface, error) {
	http, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, err
	}
	core, err := coreclient.NewForConfigAndClient(c, http)
	if err != nil {
		return nil, err
	}
	leases, err := coordinationclient.NewForConfigAndClient(c, http)
	if err != nil {
		return nil, err
	}
	return clientset{core: core, leases: leases}, nil
}
