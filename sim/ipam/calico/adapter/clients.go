package adapter

import (
	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// These are upstream's.
type (
	CalicoAPIConfig = apiconfig.CalicoAPIConfig
	Interface       = clientv3.Interface
	Clientset       = kubernetes.Clientset
)

// Kubernetes is upstream's.
const Kubernetes = apiconfig.Kubernetes

// LoadClientConfig reads neither files nor environment: the scenario determines the datastore,
// whatever a network configuration says.
func LoadClientConfig(string) (*CalicoAPIConfig, error) { return apiconfig.NewCalicoAPIConfig(), nil }

// LoadClientConfigFromEnvironment is LoadClientConfig.
func LoadClientConfigFromEnvironment() (*CalicoAPIConfig, error) { return LoadClientConfig("") }

// New is the process's client: upstream's own, over the datastore of the run.
func New(c CalicoAPIConfig) (Interface, error) { return Here().Calico(c.Spec.K8sClientQPS) }

// BuildConfigFromFlags reads no kubeconfig: see NewForConfig.
func BuildConfigFromFlags(string, string) (*rest.Config, error) { return &rest.Config{}, nil }

// NewNonInteractiveDeferredLoadingClientConfig reads no kubeconfig: see NewForConfig.
func NewNonInteractiveDeferredLoadingClientConfig(clientcmd.ClientConfigLoader, *clientcmd.ConfigOverrides) (*rest.Config, error) {
	return &rest.Config{}, nil
}

// NewForConfig is the process's clientset. The configuration only sets its rate limit.
func NewForConfig(c *rest.Config) (*Clientset, error) { return Here().Kube(c) }
