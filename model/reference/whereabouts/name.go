package whereabouts

import (
	"net/netip"
	"strings"
)

// poolName is [NETWORK-][NODE-]RANGE with a dash for every colon and slash.
//
// Source: pkg/storage/kubernetes/ipam.go, IPPoolName (v0.9.4).
func poolName(network, node string, r netip.Prefix) string {
	s := strings.NewReplacer(":", "-", "/", "-").Replace(r.String())
	if node != "" {
		s = node + "-" + s
	}
	if network != "" {
		s = network + "-" + s
	}
	return s
}

// reservationName is [NETWORK-]ADDRESS with a dash for every colon.
//
// Source: pkg/storage/kubernetes/ipam.go, NormalizeIP (v0.9.4).
func reservationName(network string, a netip.Addr) string {
	s := a.String()
	if a.Is6() {
		if strings.HasSuffix(s, ":") {
			s += "0" // no name of an object ends in a dash
		}
		s = strings.ReplaceAll(s, ":", "-")
	}
	if network != "" {
		return network + "-" + s
	}
	return s
}

// Denormalized is the address that upstream's reconciler reads out of the name of
// a reservation. It is no address of any pod if the network has a name
// (blue-10.0.0.1 becomes blue:10.0.0.1), or if the address ends in two colons
// (fd00:1:2:3:4:5:: becomes fd00:1:2:3:4:5::0).
//
// Source: pkg/reconciler/iploop.go, findClusterWideIPReservations (v0.9.4).
func Denormalized(name string) string { return strings.ReplaceAll(name, "-", ":") }
