package adapter

import (
	"fmt"
	"net"

	"github.com/containernetworking/cni/pkg/skel"
	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	"github.com/sirupsen/logrus"
)

// Dataplane is upstream's Linux dataplane without a kernel: no interface, no route, no
// sysctl. Its errors are that of an annotation and those of the machine (Machine.Plug). A pod's
// interface is there immediately.
type Dataplane struct{}

// NewLinuxDataplane replaces upstream's function of the same name.
func NewLinuxDataplane(types.NetConf, *logrus.Entry) *Dataplane { return &Dataplane{} }

// containerMAC stands for the address that the kernel draws for the pod's end.
const containerMAC = "ee:ee:ee:ee:ee:ee"

// network returns the name and the MAC address of the pod's interface, and gives each address the
// mask of a host.
//
// Source: cni-plugin/pkg/dataplane/linux, DoNetworking and DoWorkloadNetnsSetUp.
func network(result *cniv1.Result, name string, annotations map[string]string) (hostVethName, contVethMAC string, err error) {
	for _, addr := range result.IPs {
		bits := 8 * net.IPv6len
		if addr.Address.IP.To4() != nil {
			bits = 8 * net.IPv4len
		}
		addr.Address.Mask = net.CIDRMask(bits, bits)
	}
	if err := Here().Plug(); err != nil {
		return "", "", err
	}
	asked, ok := annotations["cni.projectcalico.org/hwAddr"]
	if !ok {
		return name, containerMAC, nil
	}
	mac, err := net.ParseMAC(asked)
	if err != nil {
		return "", "", fmt.Errorf("failed to parse MAC address %v provided via cni.projectcalico.org/hwAddr: %v", asked, err)
	}
	return name, mac.String(), nil
}

// CleanUpNamespace removes the pod's interface, which is all that is simulated, if its namespace
// exists.
//
// Source: cni-plugin/pkg/dataplane/linux/dataplane_linux.go:548, CleanUpNamespace (v3.31.0).
func (*Dataplane) CleanUpNamespace(args *skel.CmdArgs) error {
	if args.Netns == "" {
		return nil
	}
	return Here().Unplug()
}
