// Package kubernetes makes clientsets for the Kubernetes API that have only the group that
// upstream uses of them: a clientset of all 50 costs more than a run.
package kubernetes

import (
	real "k8s.io/client-go/kubernetes"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// Clientset holds one group; asking for another one is a nil dereference.
type Clientset struct {
	real.Interface
	core coreclient.CoreV1Interface
}

// CoreV1 is the group.
func (c *Clientset) CoreV1() coreclient.CoreV1Interface { return c.core }

// NewForConfig makes a clientset.
func NewForConfig(c *rest.Config) (*Clientset, error) {
	core, err := coreclient.NewForConfig(c)
	return &Clientset{core: core}, err
}
