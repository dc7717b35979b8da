package services

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	netutils "k8s.io/utils/net"
	"sigs.k8s.io/yaml"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/kubeadm"
)

// config is the command line of the API servers, as far as Services are concerned.
type config struct {
	ranges []*net.IPNet // of one family or of both, the primary one first
	ports  utilnet.PortRange
}

// clusterConfiguration is the part of kubeadm's ClusterConfiguration that configures the
// kube-apiserver.
type clusterConfiguration struct {
	Networking struct {
		ServiceSubnet string `json:"serviceSubnet"`
	} `json:"networking"`
	APIServer struct {
		ExtraArgs kubeadm.Arguments `json:"extraArgs"`
	} `json:"apiServer"`
}

// readConfig reads the command line that kubeadm creates from its configuration.
//
// Source: cmd/kubeadm/app/phases/controlplane/manifests.go, getAPIServerCommand, and
// cmd/kubeadm/app/apis/kubeadm/v1beta4/defaults.go (v1.37.2).
func readConfig(text string) (c config, err error) {
	var cluster clusterConfiguration
	if err := yaml.Unmarshal([]byte(text), &cluster); err != nil {
		return c, fmt.Errorf("no ClusterConfiguration of kubeadm: %w", err)
	}
	set := pflag.NewFlagSet(serverName, pflag.ContinueOnError)
	ranges := set.String("service-cluster-ip-range", "10.96.0.0/12", "")
	ports := set.String("service-node-port-range", "30000-32767", "")
	args := cluster.APIServer.ExtraArgs
	if s := cluster.Networking.ServiceSubnet; s != "" {
		args = append([]kubeadm.Argument{{Name: "service-cluster-ip-range", Value: s}}, args...)
	}
	for _, a := range args {
		if set.Lookup(a.Name) == nil {
			continue
		}
		if err := set.Set(a.Name, a.Value); err != nil {
			return c, fmt.Errorf("--%s: %w", a.Name, err)
		}
	}
	if c.ranges, err = clusterIPRanges(*ranges); err != nil {
		return c, fmt.Errorf("--service-cluster-ip-range: %w", err)
	}
	if err = c.ports.Set(*ports); err != nil {
		return c, fmt.Errorf("--service-node-port-range: %w", err)
	}
	return c, nil
}

// clusterIPRanges reads the flag as kube-apiserver does.
//
// Source: cmd/kube-apiserver/app/options, getServiceIPAndRanges and validateClusterIPFlags.
func clusterIPRanges(text string) ([]*net.IPNet, error) {
	var parts []string
	if err := pflagSlice(text, &parts); err != nil {
		return nil, err
	}
	all, err := netutils.ParseCIDRs(parts)
	if err != nil {
		return nil, err
	}
	switch {
	case len(all) == 0 || len(all) > 2:
		return nil, fmt.Errorf("%q has %d ranges, want one, or one of each IP family", text, len(all))
	case len(all) == 2 && netutils.IsIPv6CIDR(all[0]) == netutils.IsIPv6CIDR(all[1]):
		return nil, fmt.Errorf("%q has two ranges of one IP family, want one of each", text)
	}
	for _, c := range all {
		switch ones, bits := c.Mask.Size(); {
		case bits-ones < 2:
			return nil, fmt.Errorf("%s is too small, want /%d or wider", c, bits-2)
		case bits == 128 && ones < 64:
			return nil, fmt.Errorf("%s is too wide, want /64 or narrower", c)
		}
	}
	return all, nil
}

func pflagSlice(text string, to *[]string) error {
	s := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.StringSliceVar(to, "list", nil, "")
	return s.Set("list", text)
}

// NodePorts is the range of node ports that the API servers of a cluster have.
func NodePorts(objects []ipam.Object) (r utilnet.PortRange, err error) {
	_, err = kubeadm.Read(objects, func(text string) error {
		c, err := readConfig(text)
		r = c.ports
		return err
	})
	return r, err
}

// prefix is a range in the form of the model.
func prefix(c *net.IPNet) netip.Prefix {
	a, _ := netip.AddrFromSlice(c.IP)
	ones, _ := c.Mask.Size()
	return netip.PrefixFrom(a.Unmap(), ones)
}

// config is the command line, as it was when the first process started: kubeadm writes it
// into a file of the machine.
func (i *instance) config() (config, error) {
	i.started.Do(func() {
		var text string
		if text, i.err = kubeadm.Stored(i.env.API); i.err == nil {
			i.conf, i.err = readConfig(text)
		}
	})
	return i.conf, i.err
}

// networkKey is the network of Services.
const networkKey = "services"

// primary reads the Services' ranges out of what kubeadm has configured. No pod gets an
// address of them.
func primary(objects []ipam.Object) (n model.Network, cni json.RawMessage, err error) {
	ok, err := kubeadm.Read(objects, func(text string) error {
		c, err := readConfig(text)
		for _, r := range c.ranges {
			p := prefix(r)
			n.Ranges = append(n.Ranges, model.Range{Prefix: p, Start: p.Addr().Next(), End: model.LastAddr(p)})
		}
		return err
	})
	switch {
	case err != nil:
		return model.Network{}, nil, err
	case ok:
		n.Key = networkKey
		return n, json.RawMessage(`{"cniVersion":"1.0.0","name":"` + networkKey + `"}`), nil
	}
	return n, nil, errors.New("the file has no ConfigMap kube-system/kubeadm-config, want one whose ClusterConfiguration has networking.serviceSubnet")
}
