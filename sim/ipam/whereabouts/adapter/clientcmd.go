package adapter

import (
	"k8s.io/client-go/rest"
	real "k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// No kubeconfig is read: whichever a network names, it is the one that upstream's installer
// writes, and leads to the API server of the run.

// These are client-go's.
type (
	Config                   = rest.Config
	ClientConfigLoadingRules = real.ClientConfigLoadingRules
	ConfigOverrides          = real.ConfigOverrides
)

// namespace is the namespace in upstream's manifests.
const namespace = "kube-system"

// LoadFromFile returns the configuration that upstream's installer writes.
//
// Source: script/lib.sh, generateKubeConfig (v0.9.4).
func LoadFromFile(string) (*api.Config, error) {
	const context = "whereabouts-context"
	return &api.Config{CurrentContext: context, Contexts: map[string]*api.Context{context: {Namespace: namespace}}}, nil
}

type clientConfig struct{}

func (clientConfig) ClientConfig() (*Config, error) { return config(), nil }

// NewNonInteractiveDeferredLoadingClientConfig leads to the process's configuration.
func NewNonInteractiveDeferredLoadingClientConfig(*ClientConfigLoadingRules, *ConfigOverrides) clientConfig {
	return clientConfig{}
}

// BuildConfigFromFlags is the process's configuration.
func BuildConfigFromFlags(string, string) (*Config, error) { return config(), nil }

// InClusterConfig is the process's configuration; no token and no certificate is read.
func InClusterConfig() (*Config, error) { return config(), nil }
