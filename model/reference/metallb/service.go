package metallb

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Service is a Service of type LoadBalancer that the controller serves.
type Service struct {
	Name   string // NAMESPACE/NAME
	Labels map[string]string
	// V4 and V6 are the families of its cluster IPs; both false: unknown yet. Prefer: one of the
	// two suffices (PreferDualStack).
	V4, V6, Prefer bool
	Terms          model.Terms
	// Pool and Asks are its requests, "" and empty without one. Wrong: the request cannot be
	// parsed, or there are two.
	Pool  string
	Asks  []netip.Addr
	Wrong bool
	Has   []netip.Addr // in its status
}

// fits reports whether addresses are of a Service's families: one of each; of two families
// one will do if it says so, and some is true.
//
// Source: controller/service.go, serviceFamilyChanged (some) and allocateIPs (not, for
// addresses that are asked for).
func (s *Service) fits(all []netip.Addr, some bool) bool {
	v4, v6 := 0, 0
	for _, a := range all {
		if a.Is4() {
			v4++
		} else {
			v6++
		}
	}
	if v4 > 1 || v6 > 1 || v4+v6 == 0 || v4 > 0 && !s.V4 || v6 > 0 && !s.V6 {
		return false
	}
	return (v4 > 0) == s.V4 && (v6 > 0) == s.V6 || some && s.Prefer
}

// same reports whether two lists have the same addresses.
func same(a, b []netip.Addr) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x netip.Addr) bool { return !slices.Contains(b, x) })
}
