// Package winutils reads no kubeconfig: a process has its clients.
package winutils

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// BuildConfigFromFlags is empty: see the door kubernetes.
func BuildConfigFromFlags(string, string) (*rest.Config, error) { return &rest.Config{}, nil }

// NewNonInteractiveDeferredLoadingClientConfig is empty: see the door kubernetes.
func NewNonInteractiveDeferredLoadingClientConfig(clientcmd.ClientConfigLoader, *clientcmd.ConfigOverrides) (*rest.Config, error) {
	return &rest.Config{}, nil
}
