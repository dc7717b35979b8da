// Package nadclient makes the clientset for NetworkAttachmentDefinitions.
package nadclient

import (
	real "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/client/clientset/versioned"
	v1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/client/clientset/versioned/typed/k8s.cni.cncf.io/v1"
	"k8s.io/client-go/rest"
)

// Interface is the interface of the definitions' own module.
type Interface = real.Interface

// clientset has no discovery client, which upstream does not use.
type clientset struct {
	real.Interface
	v1 *v1.K8sCniCncfIoV1Client
}

func (c clientset) K8sCniCncfIoV1() v1.K8sCniCncfIoV1Interface { return c.v1 }

// NewForConfig makes a clientset.
func NewForConfig(c *rest.Config) (Interface, error) {
	group, err := v1.NewForConfig(c)
	if err != nil {
		return nil, err
	}
	return clientset{v1: group}, nil
}
