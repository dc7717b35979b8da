package route

import "time"

// How long routes take, measured with real BIRD in network namespaces (cmd/calico/lab,
// second table; the row is named at each). Where cmd/calico/lab has a range, its middle.
const (
	// Announce: "borrowed /32 added at B → in A's kernel table: 0.3–0.7 ms". BIRD is notified by
	// netlink and does not wait for its scan.
	Announce = time.Millisecond
	// Reload is the time from a changed affinity to BIRD's static route and filters.
	// cmd/calico/lab has no row for it: confd renders on the watch event and reconfigures
	// BIRD, so it counts as one announcement.
	Reload = time.Millisecond
	// VethGone: "pod's veth deleted → withdrawn at A: 3–4 s (kernel scan)"; until then the
	// /32 is stale. The kernel drops the route of a deleted device without a notification.
	VethGone = 3500 * time.Millisecond
	// Graceful: "borrower's BIRD killed: peers keep the /32 for 122 s".
	Graceful = 122 * time.Second
	// Hold: "borrower's link down: /32 gone after 192 s (hold timer)". The same holds for a
	// node without power, because nothing closes its sessions.
	Hold = 192 * time.Second
	// Establish: "owner reboots, bird -R: blackhole and /32 appear together at
	// +2.0 s: no window".
	Establish = 2 * time.Second
	// Recovery: "same with one peer dead: nothing programmed for 241 s". BIRD waits
	// for every configured peer before it programs anything.
	Recovery = 241 * time.Second
)
