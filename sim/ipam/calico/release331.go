//go:build !calico330

package calico

import (
	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/kube-controllers/pkg/converter"
	"k8s.io/client-go/rest"
)

// gcLimits are the rate limits of kube-controllers for the Kubernetes API: 100 requests per second,
// in bursts of 200.
var gcLimits = rest.Config{QPS: 100, Burst: 200}

// defaultSettings are the defaults of kube-controllers.
var defaultSettings = config.NewDefaultKubeControllersConfig

// remembered is what its informer keeps of a pod.
var remembered = converter.PodTransformer(false)
