package canary

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// servicesOf has a Service of each claim's pod, in order, with the claim's address and a
// node port.
func servicesOf(claims []model.Claim) *model.Services {
	s := &model.Services{HasPorts: true}
	const firstPort = 30000
	for i, c := range slices.SortedFunc(slices.Values(claims), func(a, b model.Claim) int { return a.Addr.Compare(b.Addr) }) {
		x := model.Service{Name: c.Pod.String(), Addrs: []netip.Addr{c.Addr}, Families: []string{"IPv4"}, Ports: []model.NodePort{{Port: firstPort + i, Protocol: "TCP"}}}
		s.All = append(s.All, x)
		s.Claims = append(s.Claims, model.ServiceClaim{Addr: c.Addr, Service: x.Name, Managed: true})
		s.Ports = append(s.Ports, firstPort+i)
		if len(s.Ranges) == 0 {
			s.Ranges = []netip.Prefix{netip.PrefixFrom(c.Addr, 0).Masked()}
		}
	}
	slices.SortFunc(s.All, func(a, b model.Service) int { return strings.Compare(a.Name, b.Name) })
	return s
}

func sameClusterIP(s *model.Services) {
	for i := range s.All {
		s.All[i].Addrs = s.All[0].Addrs
	}
	s.Claims = s.Claims[:0]
	s.Ranges = nil
}

func sameNodePort(s *model.Services) {
	s.Ports = nil
	for i := range s.All {
		s.All[i].Ports = s.All[0].Ports
		s.Ports = []int{s.All[0].Ports[0].Port}
	}
}

func forgetService(s *model.Services) { s.All, s.Ports = nil, nil }

func forgetIPAddress(s *model.Services) { s.Claims = nil }

func otherFamily(s *model.Services) {
	for i := range s.All {
		s.All[i].Families = []string{"IPv6"}
	}
}

func withoutNodePort(s *model.Services) {
	for i := range s.All {
		s.All[i].Unported = 1
	}
}

func refuseService(s *model.Services) {
	if len(s.All) > 0 {
		s.Refusals = []model.Refusal{{Service: s.All[0].Name, Free: 1}}
	}
}

// balanceAll gives each Service its address for its load balancer, too.
func balanceAll(s *model.Services) {
	for i := range s.All {
		x := &s.All[i]
		x.Balancer = &model.Balancer{Families: x.Families, Addrs: x.Addrs, Handle: "lb-" + x.Name}
	}
}

func sameBalancerIP(s *model.Services) {
	balanceAll(s)
	for i := range s.All {
		s.All[i].Balancer.Addrs = s.All[0].Addrs
	}
}

func moreBalancerIPs(s *model.Services) {
	balanceAll(s)
	if len(s.All) > 0 {
		b := s.All[0].Balancer
		b.Addrs = append(slices.Clone(b.Addrs), netip.MustParseAddr("192.0.2.1"))
	}
}

// keepBalancerIP lets a Service keep an address that it would not be assigned.
func keepBalancerIP(s *model.Services) {
	balanceAll(s)
	if len(s.All) > 0 {
		s.All[0].Balancer.Disallowed = true
	}
}

// miscountPool says of a pool that nothing of it is assigned.
func miscountPool(s *model.Services) {
	balanceAll(s)
	s.Pools = []model.PoolStatus{{Pool: "external", Family: "IPv4", Free: len(s.All), Used: len(s.All)}}
}

// praiseConfig says of a configuration that is wrong that it is not.
func praiseConfig(s *model.Services) {
	balanceAll(s)
	s.Config = &model.ConfigStatus{Name: "external", Says: model.ConfigValid}
}

// forgetBalancerIP forgets to write one of them into its Service.
func forgetBalancerIP(s *model.Services) {
	balanceAll(s)
	if len(s.All) > 1 {
		s.All[1].Balancer.Addrs, s.All[1].Balancer.Handle = nil, ""
	}
}

func claimForGone(claims []model.Claim) {
	for i := range claims {
		claims[i].Service = "default/gone"
	}
}
