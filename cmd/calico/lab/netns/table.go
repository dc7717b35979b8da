package netns

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"

	"ipamsim/model/route/fib"
)

// kernelRoute is one route as ip -j route prints it.
type kernelRoute struct {
	Type     string      `json:"type"` // "" is unicast
	Dst      string      `json:"dst"`  // default, an address, or a prefix
	Protocol string      `json:"protocol"`
	PrefSrc  string      `json:"prefsrc"`
	Metric   int         `json:"metric"`
	Nexthops []kernelHop `json:"nexthops"` // if there are several
	kernelHop
}

type kernelHop struct {
	Gateway string   `json:"gateway"`
	Dev     string   `json:"dev"`
	Flags   []string `json:"flags"`
}

// Route is the same in the model's terms.
func (k kernelRoute) route(six bool) (r fib.Route, err error) {
	r = fib.Route{Type: fib.Type(k.Type), Dev: k.Dev, Proto: k.Protocol, Metric: k.Metric}
	if r.Dst, err = destination(k.Dst, six); err != nil {
		return r, err
	}
	if k.PrefSrc != "" {
		if r.Src, err = netip.ParseAddr(k.PrefSrc); err != nil {
			return r, fmt.Errorf("ip route: %s: source: %w", k.Dst, err)
		}
	}
	hops := k.Nexthops
	if len(hops) == 0 && k.Gateway != "" {
		hops = []kernelHop{k.kernelHop}
	}
	for _, h := range hops {
		via, err := netip.ParseAddr(h.Gateway)
		if err != nil {
			return r, fmt.Errorf("ip route: %s: gateway: %w", k.Dst, err)
		}
		r.Via, r.Dev = append(r.Via, via), h.Dev
		r.OnLink = r.OnLink || slices.Contains(h.Flags, "onlink")
	}
	slices.SortFunc(r.Via, netip.Addr.Compare)
	return r, nil
}

// destination reads what ip route prints for a route's destination.
func destination(dst string, six bool) (netip.Prefix, error) {
	switch {
	case dst == "default" && six:
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0), nil
	case dst == "default":
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0), nil
	}
	if a, err := netip.ParseAddr(dst); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(dst)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("ip route: destination %q: %w", dst, err)
	}
	return p, nil
}

// ParseRoutes reads the output of ip -j route.
func ParseRoutes(out string, six bool) ([]fib.Route, error) {
	if strings.TrimSpace(out) == "" { // old versions print nothing for an empty table
		return nil, nil
	}
	var kernel []kernelRoute
	if err := json.Unmarshal([]byte(out), &kernel); err != nil {
		return nil, fmt.Errorf("ip -j route: %w", err)
	}
	var routes []fib.Route
	for i := range kernel {
		r, err := kernel[i].route(six)
		if err != nil {
			return nil, err
		}
		if !r.Dst.Addr().IsLinkLocalUnicast() { // fe80::/64, of every interface
			routes = append(routes, r)
		}
	}
	return routes, nil
}

// ipArgs are the arguments of ip that print the main routing table of a family.
func ipArgs(six bool, options ...string) []string {
	if six {
		options = append(options, "-6")
	}
	return append(options, "route")
}

// IPRoute is the command line.
func IPRoute(six bool) string { return "ip " + strings.Join(ipArgs(six), " ") }

// Routes is the main routing table of the namespace, as the kernel has it now.
func (s *Space) Routes(ip string, six bool) ([]fib.Route, error) {
	out, err := s.output(exec.Command(ip, ipArgs(six, "-j")...))
	if err != nil {
		return nil, fmt.Errorf("ip -j route: %w: %s", err, strings.TrimSpace(out))
	}
	return ParseRoutes(out, six)
}

// Lines is the main routing table as ip route prints it.
func (s *Space) Lines(ip string, six bool) ([]string, error) {
	out, err := s.output(exec.Command(ip, ipArgs(six)...))
	if err != nil {
		return nil, fmt.Errorf("ip route: %w: %s", err, strings.TrimSpace(out))
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines, nil
}
