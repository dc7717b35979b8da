//go:build calico332

package clientset

import (
	real "github.com/projectcalico/api/pkg/client/clientset_generated/clientset"
	"k8s.io/client-go/rest"
)

// Interface is upstream's.
type Interface = real.Interface

// NewForConfig is no client. Without one kube-controllers starts none of the controllers of
// native v3 resources (IPPool, Tier) and not the one that migrates to them.
func NewForConfig(*rest.Config) (Interface, error) { return nil, nil }
