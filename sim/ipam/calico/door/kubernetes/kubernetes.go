// Package kubernetes gives a program its process's clientset for the Kubernetes API.
package kubernetes

import (
	real "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/calico/door"
)

// Clientset is client-go's.
type Clientset = real.Clientset

// NewForConfig is the process's clientset. The configuration says no more than how many
// requests it may send.
func NewForConfig(c *rest.Config) (*Clientset, error) { return door.Here().Kube(c) }
