// Package wbclient makes upstream's clientset for its own objects.
package wbclient

import (
	real "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned/typed/whereabouts.cni.cncf.io/v1alpha1"
	"k8s.io/client-go/rest"
)

// Interface is upstream's.
type Interface = real.Interface

// clientset has no discovery client, which upstream does not use.
type clientset struct {
	real.Interface
	v1alpha1 *v1alpha1.WhereaboutsV1alpha1Client
}

func (c clientset) WhereaboutsV1alpha1() v1alpha1.WhereaboutsV1alpha1Interface { return c.v1alpha1 }

// NewForConfig makes a clientset.
func NewForConfig(c *rest.Config) (Interface, error) {
	group, err := v1alpha1.NewForConfig(c)
	if err != nil {
		return nil, err
	}
	return clientset{v1alpha1: group}, nil
}
