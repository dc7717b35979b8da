package dump_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/diagnosis"
)

// A range is reported when at most a tenth of it is free.
func TestFull(t *testing.T) {
	pods := netip.MustParsePrefix("10.244.0.0/20") // 16 of /24
	v := &scenarios.View{
		Networks: []model.Network{{Key: "pods", Slice: 24, Ranges: []model.Range{{Prefix: pods, Slice: 24}}}},
	}
	services := netip.MustParsePrefix("10.96.0.0/28") // 14 addresses
	v.Record.Services = &model.Services{Ranges: []netip.Prefix{services, netip.MustParsePrefix("fd00::/64")}}
	for i := range 14 {
		v.Record.Pools = append(v.Record.Pools, model.Pool{Node: fmt.Sprint(i), Range: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(i), 0}), 24)})
	}
	for i := range 13 {
		v.Record.Services.Claims = append(v.Record.Services.Claims, model.ServiceClaim{Addr: netip.AddrFrom4([4]byte{10, 96, 0, byte(i + 1)})})
	}
	says := func() (out []string) {
		for _, x := range diagnosis.FullOf(v) {
			out = append(out, x.String())
		}
		return out
	}
	if got, want := says(), []string{"10.96.0.0/28: 13 of 14 Service addresses are taken"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	v.Record.Pools = append(v.Record.Pools, model.Pool{Node: "last", Range: netip.MustParsePrefix("10.244.15.0/24")})
	v.Record.Services.Claims = v.Record.Services.Claims[:12]
	if got, want := says(), []string{"10.244.0.0/20: 15 of 16 podCIDRs of /24 are taken"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
