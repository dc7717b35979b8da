package metallb

import (
	"net/netip"
	"strings"
)

// Asks are the addresses that a Service asks for, by its annotation and by
// spec.loadBalancerIP; none if it does not. ok is false if it does so twice, or if they cannot
// be read.
//
// Source: controller/service.go, getDesiredLbIPs (v0.16.2).
func Asks(annotation, loadBalancerIP string) (out []netip.Addr, ok bool) {
	switch {
	case annotation == "" && loadBalancerIP == "":
		return nil, true
	case annotation != "" && loadBalancerIP != "":
		return nil, false
	}
	for _, s := range strings.Split(annotation+loadBalancerIP, ",") {
		a, err := netip.ParseAddr(strings.TrimSpace(s))
		if err != nil || a.Zone() != "" || len(out) == 2 {
			return nil, false
		}
		out = append(out, a.Unmap())
	}
	return out, len(out) == 1 || out[0].Is4() != out[1].Is4()
}
