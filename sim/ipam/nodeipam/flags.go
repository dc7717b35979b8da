package nodeipam

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam/cidrset"
	netutils "k8s.io/utils/net"
	"sigs.k8s.io/yaml"

	"ipamsim/sim/ipam/kubeadm"
)

// flags are the flags of kube-controller-manager for node IPAM and its leader election, with
// upstream's defaults.
//
// Source: cmd/kube-controller-manager/app/options, options.go and nodeipamcontroller.go;
// cloud-provider/options/kubecloudshared.go; component-base/config/v1alpha1 (v1.37.2).
type flags struct {
	allocate, elect     bool
	allocator           string
	clusters, services  string
	mask, mask4, mask6  int
	lease, renew, retry time.Duration
	qps                 float32
	burst               int
	controllers         []string
}

func (f *flags) set() *pflag.FlagSet {
	s := pflag.NewFlagSet(managerName, pflag.ContinueOnError)
	s.BoolVar(&f.allocate, "allocate-node-cidrs", false, "")
	s.StringVar(&f.allocator, "cidr-allocator-type", "RangeAllocator", "")
	s.StringVar(&f.clusters, "cluster-cidr", "", "")
	s.StringVar(&f.services, "service-cluster-ip-range", "", "")
	s.IntVar(&f.mask, "node-cidr-mask-size", 0, "")
	s.IntVar(&f.mask4, "node-cidr-mask-size-ipv4", 0, "")
	s.IntVar(&f.mask6, "node-cidr-mask-size-ipv6", 0, "")
	s.BoolVar(&f.elect, "leader-elect", true, "")
	s.DurationVar(&f.lease, "leader-elect-lease-duration", 15*time.Second, "")
	s.DurationVar(&f.renew, "leader-elect-renew-deadline", 10*time.Second, "")
	s.DurationVar(&f.retry, "leader-elect-retry-period", 2*time.Second, "")
	s.Float32Var(&f.qps, "kube-api-qps", 20, "")
	s.IntVar(&f.burst, "kube-api-burst", 30, "")
	s.StringSliceVar(&f.controllers, "controllers", []string{"*"}, "")
	return s
}

// clusterConfiguration is the part of kubeadm's ClusterConfiguration that configures the
// kube-controller-manager.
type clusterConfiguration struct {
	Networking struct {
		PodSubnet     string `json:"podSubnet"`
		ServiceSubnet string `json:"serviceSubnet"`
	} `json:"networking"`
	ControllerManager struct {
		ExtraArgs kubeadm.Arguments `json:"extraArgs"`
	} `json:"controllerManager"`
}

// readFlags reads the node IPAM flags of the command line that kubeadm creates from its
// configuration. Flags of other controllers are ignored.
//
// Source: cmd/kubeadm/app/phases/controlplane/manifests.go, getControllerManagerCommand
// (v1.37.2).
func readFlags(text string) (f flags, err error) {
	var c clusterConfiguration
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		return f, fmt.Errorf("no ClusterConfiguration of kubeadm: %w", err)
	}
	args := kubeadm.Arguments{}
	if c.Networking.PodSubnet != "" {
		args = append(args, kubeadm.Argument{Name: "allocate-node-cidrs", Value: "true"}, kubeadm.Argument{Name: "cluster-cidr", Value: c.Networking.PodSubnet})
		if c.Networking.ServiceSubnet != "" {
			args = append(args, kubeadm.Argument{Name: "service-cluster-ip-range", Value: c.Networking.ServiceSubnet})
		}
	}
	set := f.set()
	for _, a := range append(args, c.ControllerManager.ExtraArgs...) {
		if set.Lookup(a.Name) == nil {
			continue
		}
		if err := set.Set(a.Name, a.Value); err != nil {
			return f, fmt.Errorf("--%s: %w", a.Name, err)
		}
	}
	switch {
	case !f.allocate || f.clusters == "":
		return f, errors.New(`node IPAM is off: want networking.podSubnet, e.g. "10.244.0.0/16"`)
	case slices.Contains(f.controllers, "-node-ipam-controller") || slices.Contains(f.controllers, "-nodeipam"):
		return f, errors.New("--controllers switches node IPAM off")
	case f.allocator != "RangeAllocator":
		return f, fmt.Errorf("--cidr-allocator-type: %q, want RangeAllocator", f.allocator)
	}
	return f, nil
}

// ranges are what the flags say of addresses.
type ranges struct {
	clusters []*net.IPNet
	masks    []int         // of nodes, by cluster
	services [2]*net.IPNet // nil: none
}

// ranges reads the flags as upstream does when it starts the controller, and asks it
// whether it can be started so.
func (f *flags) ranges() (r ranges, err error) {
	if r.clusters, err = clusterCIDRs(f.clusters); err != nil {
		return r, fmt.Errorf("--cluster-cidr: %w", err)
	}
	if r.services, err = serviceCIDRs(f.services); err != nil {
		return r, fmt.Errorf("--service-cluster-ip-range: %w", err)
	}
	if r.masks, err = f.maskSizes(r.clusters); err != nil {
		return r, err
	}
	for i, c := range r.clusters {
		ones, bits := c.Mask.Size()
		if m := r.masks[i]; m < ones || m > bits {
			return r, fmt.Errorf("mask size of nodes in %s: %d, want %d to %d", c, m, ones, bits)
		} else if m-ones > nodesBitsMax {
			return r, fmt.Errorf("mask size of nodes in %s: %d, want at most %d: a simulated cluster has fewer nodes", c, m, ones+nodesBitsMax)
		}
		if _, err := cidrset.NewCIDRSet(c, r.masks[i]); err != nil {
			return r, fmt.Errorf("%s: %w", c, err)
		}
	}
	return r, nil
}

// nodesBitsMax is upstream's own limit, for IPv6 (clusterSubnetMaxDiff).
const nodesBitsMax = 16

// clusterCIDRs are one, or one of each family.
func clusterCIDRs(list string) ([]*net.IPNet, error) {
	cidrs, err := netutils.ParseCIDRs(strings.Split(strings.TrimSpace(list), ","))
	if err != nil {
		return nil, err
	}
	dual, _ := netutils.IsDualStackCIDRs(cidrs)
	if len(cidrs) > 1 && !dual || len(cidrs) > 2 {
		return nil, fmt.Errorf("%s: want one range, or one of each family", list)
	}
	return cidrs, nil
}

// serviceCIDRs are the first two; one that cannot be parsed is nil, as in upstream.
func serviceCIDRs(list string) (out [2]*net.IPNet, err error) {
	texts := strings.Split(list, ",")
	if len(texts) > 2 {
		return out, errors.New("can not contain more than two entries")
	}
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			_, out[i], _ = netutils.ParseCIDRSloppy(text)
		}
	}
	if out[0] != nil && out[1] != nil {
		if dual, err := netutils.IsDualStackCIDRs(out[:]); err != nil || !dual {
			return out, errors.New("want ranges of different families")
		}
	}
	return out, nil
}

// Upstream's mask sizes where no flag says another.
const mask4Default, mask6Default = 24, 64

// maskSizes are the mask sizes of nodes, by cluster CIDR.
func (f *flags) maskSizes(clusters []*net.IPNet) ([]int, error) {
	v6only := len(clusters) == 1 && netutils.IsIPv6CIDR(clusters[0])
	switch {
	case len(clusters) > 1 && f.mask != 0:
		return nil, errors.New("--node-cidr-mask-size: not allowed with dual-stack clusters, want --node-cidr-mask-size-ipv4 and -ipv6")
	case f.mask != 0 && f.mask4+f.mask6 != 0:
		return nil, errors.New("--node-cidr-mask-size: not allowed beside --node-cidr-mask-size-ipv4 and -ipv6")
	case len(clusters) == 1 && f.mask4 != 0 && v6only:
		return nil, errors.New("--node-cidr-mask-size-ipv4: not allowed for a single-stack IPv6 cluster")
	case len(clusters) == 1 && f.mask6 != 0 && !v6only:
		return nil, errors.New("--node-cidr-mask-size-ipv6: not allowed for a single-stack IPv4 cluster")
	}
	out := make([]int, len(clusters))
	for i, c := range clusters {
		family, fallback := f.mask4, mask4Default
		if netutils.IsIPv6CIDR(c) {
			family, fallback = f.mask6, mask6Default
		}
		for _, m := range []int{fallback, family, f.mask} {
			if m != 0 {
				out[i] = m
			}
		}
	}
	return out, nil
}

func ipnet(text string) *net.IPNet {
	_, n, err := net.ParseCIDR(text)
	if err != nil {
		panic(err) // a constant
	}
	return n
}

// prefix is a range of Go's older type.
func prefix(n *net.IPNet) netip.Prefix {
	a, _ := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(a.Unmap(), ones)
}
