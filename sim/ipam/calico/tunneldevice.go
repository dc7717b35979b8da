package calico

import (
	"context"
	"net/netip"

	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
)

// nodeListener passes updates of a syncer on to upstream's reconciler, and updates of the node's
// own object to heard.
type nodeListener struct {
	r     *tunnelReconciler
	ctx   context.Context // after its end the syncer invents deletions
	node  string
	heard func(node string, n *libapi.Node)
}

// OnStatusUpdated is upstream's.
func (l *nodeListener) OnStatusUpdated(s bapi.SyncStatus) { tunnelStatus(l.r, s) }

// OnUpdates is upstream's, after the devices have changed.
func (l *nodeListener) OnUpdates(updates []bapi.Update) {
	for _, u := range updates {
		k, ok := u.Key.(model.ResourceKey)
		if !ok || k.Kind != libapi.KindNode || k.Name != l.node || l.ctx.Err() != nil {
			continue
		}
		n, _ := u.Value.(*libapi.Node) // nil: deleted
		l.heard(l.node, n)
	}
	tunnelUpdates(l.r, updates)
}

// heardOnNode gives the node's devices the addresses that its object names, and
// takes all of them away if it is nil.
//
// Source: felix/dataplane/linux, ipipManager and vxlanManager; the addresses reach
// them by libcalico-go/lib/backend/syncersv1/updateprocessors, the Felix node
// update processor.
func (i *instance) heardOnNode(node string, n *libapi.Node) {
	if i.env.Device == nil {
		return
	}
	for _, d := range devices(n) {
		handle, _ := tunnelHandle(node, d.kind)
		a, _ := netip.ParseAddr(d.addr) // none: not valid
		i.env.Device(node, handle, a)
	}
}

// device is a node's own device, by upstream's name for the kind of its allocation.
type device struct{ kind, addr string }

func devices(n *libapi.Node) []device {
	if n == nil {
		n = libapi.NewNode()
	}
	var ipip, four, six string
	if n.Spec.BGP != nil {
		ipip = n.Spec.BGP.IPv4IPIPTunnelAddr
	}
	if n.Spec.Wireguard != nil {
		four, six = n.Spec.Wireguard.InterfaceIPv4Address, n.Spec.Wireguard.InterfaceIPv6Address
	}
	return []device{
		{upstream.AttributeTypeIPIP, ipip},
		{upstream.AttributeTypeVXLAN, n.Spec.IPv4VXLANTunnelAddr},
		{upstream.AttributeTypeVXLANV6, n.Spec.IPv6VXLANTunnelAddr},
		{upstream.AttributeTypeWireguard, four},
		{upstream.AttributeTypeWireguardV6, six},
	}
}
