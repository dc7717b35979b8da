// Package azure is another IPAM plugin's files, which no simulated host has: a network
// configuration that names it is refused before anything runs.
package azure

import (
	"errors"

	"github.com/containernetworking/cni/pkg/skel"
)

var errNone = errors.New("no Azure network on this host")

// AzureNetwork is a file with a network's subnets.
type AzureNetwork struct {
	Name    string
	Subnets []string
}

// Load and Write are errors.
func (*AzureNetwork) Load() error  { return errNone }
func (*AzureNetwork) Write() error { return errNone }

// AzureEndpoint is a file with a sandbox's addresses.
type AzureEndpoint struct {
	Network, ContainerID, Interface string
	Addresses                       []string
}

// Load, Write and Delete are errors.
func (*AzureEndpoint) Load() error   { return errNone }
func (*AzureEndpoint) Write() error  { return errNone }
func (*AzureEndpoint) Delete() error { return errNone }

// MutateConfigAdd and MutateConfigDel are errors.
func MutateConfigAdd(*skel.CmdArgs, AzureNetwork) error                { return errNone }
func MutateConfigDel(*skel.CmdArgs, AzureNetwork, AzureEndpoint) error { return errNone }
