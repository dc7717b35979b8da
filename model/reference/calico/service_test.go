package calico

import (
	"fmt"
	"net/netip"
	"testing"

	"ipamsim/model"
)

func TestServiceAsks(t *testing.T) {
	networks := []model.Network{{Blocks: &model.BlockPolicy{Pools: []model.IPPool{
		{Name: "external", Prefix: netip.MustParsePrefix("10.9.0.0/24"), LoadBalancers: true},
		{Name: "pods", Prefix: netip.MustParsePrefix("10.1.0.0/24"), Workloads: true},
	}}}}
	const unread = "map[IPv4:[] IPv6:[]]"
	for _, x := range []struct{ addrs, four, six, want string }{
		{"", "", "", "map[]"},
		{`["10.9.0.1"]`, "", "", "map[IPv4:[10.9.0.1/32] IPv6:[]]"},
		{`["10.9.0.1","fd00::1"]`, "", "", "map[IPv4:[10.9.0.1/32] IPv6:[fd00::1/128]]"},
		{`["10.9.0.1","10.9.0.2"]`, "", "", unread},
		{`["fd00::1","fd00::2"]`, "", "", unread},
		{`[""]`, "", "", unread},
		{`10.9.0.1`, "", "", unread},
		{"", `["external","10.8.0.0/30"]`, "", "map[IPv4:[10.9.0.0/24 10.8.0.0/30]]"},
		{"", "", `["fd00::/120"]`, "map[IPv6:[fd00::/120]]"},
		{"", "", `["external"]`, unread},
		{"", `["pods"]`, "", unread},
		{"", `[]`, "", unread},
		{`["10.9.0.1"]`, `["external"]`, "", "map[IPv4:[10.9.0.1/32] IPv6:[]]"},
		{`["10.9.0.1"]`, "", `["external"]`, unread},
	} {
		notes := map[string]string{}
		for name, text := range map[string]string{addrsAnnotation: x.addrs, poolsOf4Annotation: x.four, poolsOf6Annotation: x.six} {
			if text != "" {
				notes[name] = text
			}
		}
		if got := fmt.Sprint(ServiceAsks(notes, networks)); got != x.want {
			t.Errorf("%v: %s, want %s", notes, got, x.want)
		}
	}
}
