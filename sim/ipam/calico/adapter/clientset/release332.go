//go:build calico332

package clientset

import (
	real "github.com/projectcalico/api/pkg/client/clientset_generated/clientset"
	"k8s.io/client-go/rest"
)

// Interface is upstream's.
type Interface = real.Interface

// NewForConfig returns no client. Without one kube-controllers does not start the controllers of
// native v3 resources (IPPool, Tier) or the one that migrates to them.
func NewForConfig(*rest.Config) (Interface, error) { return nil, nil }
