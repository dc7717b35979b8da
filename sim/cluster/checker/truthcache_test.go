package checker

import (
	"net/netip"
	"testing"

	"ipamsim/model"
)

// A node whose IPv4 tunnel has no address yet has no address for IPv4 routes, whatever its IPv6
// tunnel has: Felix programs the routes of each family through that family's device.
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
	four, six := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::2")
	if len(got[0]) != 1 || got[0]["a"] != four || len(got[1]) != 2 || got[1]["b"] != six {
		t.Errorf("tunnels %v, want in IPv4 that of a, %v, only, in IPv6 both", got, four)
	}
}
