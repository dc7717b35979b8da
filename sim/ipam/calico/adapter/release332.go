//go:build calico332

package adapter

import (
	"context"
	"net"
	"time"

	"github.com/containernetworking/cni/pkg/skel"
	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
)

// DoNetworking connects a pod (network). It programs no routes of the host; upstream leaves those
// of a migrating virtual machine to Felix.
func (*Dataplane) DoNetworking(_ context.Context, _ clientv3.Interface, _ *skel.CmdArgs, result *cniv1.Result, name string,
	_ []*net.IPNet, _ *libapi.WorkloadEndpoint, annotations map[string]string, _ bool) (hostVethName, contVethMAC string, err error) {
	return network(result, name, annotations)
}

// StartCompactorPerEndpoint compacts no etcd.
func StartCompactorPerEndpoint(client any, _ time.Duration) {}
