package calico

import (
	"context"
	"net"
	"net/netip"

	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/ipam"
)

var (
	_ ipam.Adopter = (*instance)(nil)
	_ ipam.Hoster  = adapter{}
)

// Adopt stores the endpoint of a sandbox that runs already, as the CNI plugin would
// have: with etcd as an object of its own, with the Kubernetes datastore in the
// pod's annotations. One that is there already, and is this sandbox's, stays as it
// is.
func (i *instance) Adopt(ctx context.Context, call ipam.Call, addrs []netip.Addr) error {
	p, err := i.plugin(nil, call)
	if err != nil {
		return err
	}
	wep, err := p.findEndpoint(ctx)
	if err != nil || wep != nil && wep.Spec.ContainerID == call.Container {
		return err
	}
	pod, err := p.readPod()
	if err != nil {
		return err
	}
	r := &cniv1.Result{CNIVersion: cniv1.ImplementedSpecVersion}
	for _, a := range addrs {
		r.IPs = append(r.IPs, &cniv1.IPConfig{Address: net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}})
	}
	return p.storeEndpoint(ctx, wep, pod, r)
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

// Devices are the IPIP, VXLAN and WireGuard devices whose addresses the annotations
// name.
func (adapter) Devices(n *corev1.Node) []ipam.Device {
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

// adoptTunnels copies what the annotations say into Calico's own Node.
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
