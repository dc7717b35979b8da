//go:build calico330

package calico

import (
	v3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"k8s.io/client-go/rest"
)

// gcLimits are the rate limits of kube-controllers for the Kubernetes API: client-go's.
var gcLimits rest.Config

// defaultSettings are the defaults of kube-controllers.
func defaultSettings() *v3.KubeControllersConfiguration { return config.DefaultKCC.DeepCopy() }

// remembered is what its informer keeps of a pod.
func remembered(pod any) (any, error) { return pod, nil }
