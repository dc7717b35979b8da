package calico

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/ipam/calico/upstream/cni/k8s"
	"ipamsim/sim/ipam/calico/upstream/cni/utils"
	os "ipamsim/sim/ipam/platform/std"
)

// Adopt stores the endpoint of a sandbox that already runs, as the CNI plugin would have: with etcd
// as a separate object, with the Kubernetes datastore in the pod's annotations. An existing
// endpoint of this sandbox is unchanged.
//
// It runs upstream's ADD on a host whose IPAM plugin returns these addresses.
func (i *instance) Adopt(ctx context.Context, call ipam.Call, addrs []netip.Addr) error {
	e, err := i.attachment(nil, call)
	if err != nil {
		return err
	}
	const adopt = "adopt"
	failed := error(nil)
	executables := map[string]func(){
		adopt:    func() { failed = e.adopt(ctx) },
		ipamType: func() { failed = say(addrs) },
	}
	_, err = e.runtime(ctx, executables).ExecPlugin(ctx, adopt, e.config, e.args("ADD").AsEnv())
	return cmp.Or(failed, err)
}

// adopt is the part of the CNI plugin's ADD that comes after it has looked for the
// pod's endpoint.
func (e *attachment) adopt(ctx context.Context) error {
	conf := types.NetConf{}
	if err := json.Unmarshal(e.config, &conf); err != nil {
		return err
	}
	a := e.args("ADD")
	args := &skel.CmdArgs{ContainerID: a.ContainerID, Netns: a.NetNS, IfName: a.IfName, Args: os.Getenv("CNI_ARGS"), Path: a.Path, StdinData: e.config}
	ids, err := utils.GetIdentifiers(args, e.call.Node)
	if err != nil {
		return err
	}
	if ids.WEPName, err = ids.CalculateWorkloadEndpointName(false); err != nil {
		return err
	}
	c, err := e.Calico(0)
	if err != nil {
		return err
	}
	wep, err := c.WorkloadEndpoints().Get(ctx, ids.Namespace, ids.WEPName, options.GetOptions{})
	switch {
	case store.Missing(err):
		wep = nil
	case err != nil || wep.Spec.ContainerID == e.call.Container:
		return err
	default:
		wep.Spec.IPNetworks = nil // upstream must not release its former addresses
	}
	_, err = k8s.CmdAddK8s(ctx, args, conf, *ids, c, wep)
	return err
}

// say is an IPAM plugin that returns these addresses, or those of them that are requested. A DEL
// does nothing.
func say(addrs []netip.Addr) error {
	if os.Getenv("CNI_COMMAND") != "ADD" {
		return nil
	}
	r := &cniv1.Result{CNIVersion: cniv1.ImplementedSpecVersion}
	_, asked, certain := strings.Cut(os.Getenv("CNI_ARGS"), ";IP=")
	for _, a := range addrs {
		if !certain || a.String() == asked {
			r.IPs = append(r.IPs, &cniv1.IPConfig{Address: net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}})
		}
	}
	return r.PrintTo(os.Stdout)
}

// The annotations in which calico-node, with the Kubernetes datastore, writes the
// addresses of a node's devices and the keys that WireGuard needs. With etcd they
// are fields of Calico's own Node, which a manifest of the scenario cannot be: the
// annotations of the Kubernetes Node speak for it.
//
// Source: libcalico-go/lib/backend/k8s/resources, node.go (v3.31).
const (
	ipipAddress       = "projectcalico.org/IPv4IPIPTunnelAddr"
	vxlanAddress      = "projectcalico.org/IPv4VXLANTunnelAddr"
	vxlan6Address     = "projectcalico.org/IPv6VXLANTunnelAddr"
	wireguardAddress  = "projectcalico.org/IPv4WireguardInterfaceAddr"
	wireguard6Address = "projectcalico.org/IPv6WireguardInterfaceAddr"
	wireguardKey      = "projectcalico.org/WireguardPublicKey"
	wireguard6Key     = "projectcalico.org/WireguardPublicKeyV6"
)

// devicesOf are the IPIP, VXLAN and WireGuard devices whose addresses are in the annotations.
func devicesOf(n *corev1.Node) []ipam.Device {
	node := libapi.NewNode()
	adoptTunnels(node, n)
	var out []ipam.Device
	for _, d := range devices(node) {
		if a, err := netip.ParseAddr(d.addr); err == nil {
			handle, _ := tunnelHandle(n.Name, d.kind)
			out = append(out, ipam.Device{Handle: handle, Addr: a})
		}
	}
	return out
}

// adoptTunnels copies the annotations into Calico's own Node.
func adoptTunnels(out *libapi.Node, n *corev1.Node) {
	if tunnel := n.Annotations[ipipAddress]; tunnel != "" {
		if out.Spec.BGP == nil {
			out.Spec.BGP = &libapi.NodeBGPSpec{}
		}
		out.Spec.BGP.IPv4IPIPTunnelAddr = tunnel
	}
	out.Spec.IPv4VXLANTunnelAddr, out.Spec.IPv6VXLANTunnelAddr = n.Annotations[vxlanAddress], n.Annotations[vxlan6Address]
	if four, six := n.Annotations[wireguardAddress], n.Annotations[wireguard6Address]; four != "" || six != "" {
		out.Spec.Wireguard = &libapi.NodeWireguardSpec{InterfaceIPv4Address: four, InterfaceIPv6Address: six}
	}
	out.Status.WireguardPublicKey, out.Status.WireguardPublicKeyV6 = n.Annotations[wireguardKey], n.Annotations[wireguard6Key]
}
