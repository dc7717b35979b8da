package adapter

import (
	real "k8s.io/client-go/kubernetes"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// Clientset is one for the Kubernetes API that holds only the group that upstream uses of it: a
// clientset of all 50 costs more than a run. Asking for another group is a nil dereference.
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
