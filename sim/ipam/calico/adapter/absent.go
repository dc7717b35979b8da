package adapter

import (
	"context"
	"errors"
	"time"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/sirupsen/logrus"
)

// The following types belong to features that no simulated host has, and for which no program is
// started.

var (
	errNoAzure     = errors.New("no Azure network on this host")
	errNoHostLocal = errors.New("no addresses of host-local on this host")
	errNoSocket    = errors.New("no socket of a dataplane on this host")
)

// AzureNetwork is the subnet file of another IPAM plugin. A network configuration that names it is
// refused before the run.
type AzureNetwork struct {
	Name    string
	Subnets []string
}

// Load and Write are errors.
func (*AzureNetwork) Load() error  { return errNoAzure }
func (*AzureNetwork) Write() error { return errNoAzure }

// AzureEndpoint is a file with a sandbox's addresses, of that plugin.
type AzureEndpoint struct {
	Network, ContainerID, Interface string
	Addresses                       []string
}

// Load, Write and Delete are errors.
func (*AzureEndpoint) Load() error   { return errNoAzure }
func (*AzureEndpoint) Write() error  { return errNoAzure }
func (*AzureEndpoint) Delete() error { return errNoAzure }

// MutateConfigAdd and MutateConfigDel are errors.
func MutateConfigAdd(*skel.CmdArgs, AzureNetwork) error                { return errNoAzure }
func MutateConfigDel(*skel.CmdArgs, AzureNetwork, AzureEndpoint) error { return errNoAzure }

// Migrate, of a host from host-local IPAM, is an error.
func Migrate(context.Context, clientv3.Interface, string) error { return errNoHostLocal }

// NewGrpcDataplane, of the dataplane behind a socket, is an error.
func NewGrpcDataplane(types.NetConf, *logrus.Entry) (*Dataplane, error) { return nil, errNoSocket }

// ForEndpointReadyWithTimeout does not wait: Felix has a pod's policy in place immediately.
func ForEndpointReadyWithTimeout(string, *libapi.WorkloadEndpoint, time.Duration) error { return nil }

// ConfigureFormatter changes nothing about how the process logs.
func ConfigureFormatter(string) {}

// StartDebugPprofServer starts no profiler.
func StartDebugPprofServer(string, int) {}

// StartCompactor compacts no etcd.
func StartCompactor(_ context.Context, client any, _ time.Duration) {}
