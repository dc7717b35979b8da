//go:build !calico332

package adapter

import (
	"context"
	"net"

	"github.com/containernetworking/cni/pkg/skel"
	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
)

// DoNetworking connects a pod (network).
func (*Dataplane) DoNetworking(_ context.Context, _ clientv3.Interface, _ *skel.CmdArgs, result *cniv1.Result, name string,
	_ []*net.IPNet, _ *libapi.WorkloadEndpoint, annotations map[string]string) (hostVethName, contVethMAC string, err error) {
	return network(result, name, annotations)
}
