package calico

import (
	"context"
	"net"
	_ "unsafe" // for linkname

	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	_ "github.com/projectcalico/calico/cni-plugin/pkg/k8s" // owns the functions below
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"github.com/sirupsen/logrus"
	"k8s.io/client-go/kubernetes"
)

// The parts of Calico's CNI plugin that need neither files, nor environment, nor
// network namespaces: they are the real ones. The rest of the plugin is its two
// main functions, which start other programs and read what kubelet passes them;
// plugin.go follows them line by line.

//go:linkname resolvePools github.com/projectcalico/calico/cni-plugin/internal/pkg/utils.ResolvePools
func resolvePools(ctx context.Context, c clientv3.Interface, pools []string, isv4 bool) ([]cnet.IPNet, error)

//go:linkname handleID github.com/projectcalico/calico/cni-plugin/internal/pkg/utils.GetHandleID
func handleID(network, containerID, workload string) string

//go:linkname validNetworkName github.com/projectcalico/calico/cni-plugin/internal/pkg/utils.ValidateNetworkName
func validNetworkName(name string) error

//go:linkname populateEndpoint github.com/projectcalico/calico/cni-plugin/internal/pkg/utils.PopulateEndpointNets
func populateEndpoint(wep *libapi.WorkloadEndpoint, result *cniv1.Result) error

//go:linkname writeEndpoint github.com/projectcalico/calico/cni-plugin/internal/pkg/utils.CreateOrUpdate
func writeEndpoint(ctx context.Context, c clientv3.Interface, wep *libapi.WorkloadEndpoint) (*libapi.WorkloadEndpoint, error)

//go:linkname namespaceAnnotations github.com/projectcalico/calico/cni-plugin/pkg/k8s.getK8sNSInfo
func namespaceAnnotations(c *kubernetes.Clientset, namespace string) (map[string]string, error)

//go:linkname podInfo github.com/projectcalico/calico/cni-plugin/pkg/k8s.getK8sPodInfo
func podInfo(c *kubernetes.Clientset, pod, namespace string) (labels, annotations map[string]string,
	ports []libapi.WorkloadEndpointPort, profiles []string, generateName, serviceAccount string, err error)

//go:linkname extractIPs github.com/projectcalico/calico/cni-plugin/pkg/k8s.validateAndExtractIPs
func extractIPs(ips, annotation string, logger *logrus.Entry) ([]net.IP, error)

//go:linkname overrideResult github.com/projectcalico/calico/cni-plugin/pkg/k8s.overrideIPAMResult
func overrideResult(ips string, logger *logrus.Entry) (*cniv1.Result, error)

//go:linkname releaseEndpointIPs github.com/projectcalico/calico/cni-plugin/pkg/k8s.releaseIPAddrs
func releaseEndpointIPs(ips []string, c clientv3.Interface, logger *logrus.Entry) error
