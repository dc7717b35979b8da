package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
)

// kernelRoute is one route as ip -j route prints it.
type kernelRoute struct {
	Type     string      `json:"type"` // "" is unicast
	Dst      string      `json:"dst"`  // default, an address, or a prefix
	Gateway  string      `json:"gateway"`
	Dev      string      `json:"dev"`
	Protocol string      `json:"protocol"` // "" is boot
	PrefSrc  string      `json:"prefsrc"`
	Nexthops []kernelHop `json:"nexthops"`
}

type kernelHop struct {
	Gateway string `json:"gateway"`
	Dev     string `json:"dev"`
}

// prefix is the route's destination.
func (r kernelRoute) prefix() (netip.Prefix, error) {
	if r.Dst == "default" {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0), nil
	}
	if a, err := netip.ParseAddr(r.Dst); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(r.Dst)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("ip route: destination %q: %w", r.Dst, err)
	}
	return p, nil
}

// hops are its next hops: one, unless the kernel spreads flows over several.
func (r kernelRoute) hops() []kernelHop {
	if len(r.Nexthops) > 0 {
		return r.Nexthops
	}
	return []kernelHop{{r.Gateway, r.Dev}}
}

// parseRoutes reads the output of ip -j route.
func parseRoutes(out string) ([]kernelRoute, error) {
	var routes []kernelRoute
	if strings.TrimSpace(out) == "" { // old versions print nothing for an empty table
		return nil, nil
	}
	if err := json.Unmarshal([]byte(out), &routes); err != nil {
		return nil, fmt.Errorf("ip -j route: %w", err)
	}
	return routes, nil
}

// routes is the main routing table of the namespace, as the kernel has it now.
func (s *space) routes(ip string) ([]kernelRoute, error) {
	out, err := s.output(exec.Command(ip, "-j", "route"))
	if err != nil {
		return nil, fmt.Errorf("ip -j route: %w: %s", err, strings.TrimSpace(out))
	}
	return parseRoutes(out)
}

// lines is the main routing table as ip route prints it.
func (s *space) lines(ip string) ([]string, error) {
	out, err := s.output(exec.Command(ip, "route"))
	if err != nil {
		return nil, fmt.Errorf("ip route: %w: %s", err, strings.TrimSpace(out))
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines, nil
}

// sortHops puts next hops in the order of their gateways.
func sortHops(hops []kernelHop) []kernelHop {
	hops = slices.Clone(hops)
	slices.SortFunc(hops, func(a, b kernelHop) int {
		if c := strings.Compare(a.Gateway, b.Gateway); c != 0 {
			return c
		}
		return strings.Compare(a.Dev, b.Dev)
	})
	return hops
}
