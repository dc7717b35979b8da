//go:build calico332 && ignore

package kubevirt

import (
	"errors"
	"time"

	real "github.com/projectcalico/calico/libcalico-go/lib/kubevirt"
	"k8s.io/client-go/rest"
)

// These are upstream's.
type (
	PodVMIInfo          = real.PodVMIInfo
	VirtClientInterface = real.VirtClientInterface
	DeferredInformers   = real.DeferredInformers
)

// FindVMIOwnerRef and GetPodVMIInfo are upstream's.
var (
	FindVMIOwnerRef = real.FindVMIOwnerRef
	GetPodVMIInfo   = real.GetPodVMIInfo
)

var errNone = errors.New("no KubeVirt in this cluster")

// NewVirtClient is an error: no virtual machine is simulated. Upstream asks for it if a pod is
// called and owned as that of a virtual machine is.
func NewVirtClient(*rest.Config) (VirtClientInterface, error) { return nil, errNone }

// NewIndexerFunc and NewDeferredInformers find no KubeVirt, and do not ask for it every half
// minute.
func NewIndexerFunc(*rest.Config, time.Duration) real.GetIndexInformerFunc { return nil }

func NewDeferredInformers(real.GetIndexInformerFunc, time.Duration, <-chan struct{}) *DeferredInformers {
	return &DeferredInformers{}
}
