package checker

import (
	"net/netip"
	"testing"

	"ipamsim/model"
)

// A node whose IPv4 tunnel has no address yet has none for routes, whatever its IPv6
// tunnel has: Felix would make no IPv4 route through it.
func TestTunnelsOfNodes(t *testing.T) {
	c := &Checker{}
	c.truth.init()
	for handle, device := range map[string]struct{ node, addr string }{
		"vxlan-tunnel-addr-a":    {"a", "10.0.0.1"},
		"vxlan-v6-tunnel-addr-a": {"a", "fd00::1"},
		"vxlan-v6-tunnel-addr-b": {"b", "fd00::2"},
	} {
		c.sandboxes[handle] = &model.Sandbox{
			ID: handle, Pod: model.PodRef{Name: device.node}, Node: device.node,
			Attachments: []model.Attachment{{Addrs: []netip.Addr{netip.MustParseAddr(device.addr)}}},
		}
	}
	_, got := c.localAddrs()
	if want := netip.MustParseAddr("10.0.0.1"); len(got) != 1 || got["a"] != want {
		t.Errorf("tunnels %v, want that of a, %v, only", got, want)
	}
}
