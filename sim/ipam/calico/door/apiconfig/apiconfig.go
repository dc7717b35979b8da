// Package apiconfig has no configuration of clients: a process has its clients.
package apiconfig

import real "github.com/projectcalico/calico/libcalico-go/lib/apiconfig"

// CalicoAPIConfig is upstream's.
type CalicoAPIConfig = real.CalicoAPIConfig

// Kubernetes is upstream's.
const Kubernetes = real.Kubernetes

// LoadClientConfig reads neither files nor environment: which datastore Calico has is
// the scenario's affair, whatever a network configuration says.
func LoadClientConfig(string) (*CalicoAPIConfig, error) { return real.NewCalicoAPIConfig(), nil }

// LoadClientConfigFromEnvironment is LoadClientConfig.
func LoadClientConfigFromEnvironment() (*CalicoAPIConfig, error) { return LoadClientConfig("") }
