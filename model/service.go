package model

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Services are the stored Services at one instant, and the objects that record the owners of
// addresses and node ports.
type Services struct {
	All      []Service      // sorted by name
	Claims   []ServiceClaim // IPAddress objects, sorted by address
	Ranges   []netip.Prefix // of ServiceCIDRs, sorted, each once
	Ports    []int          // that are marked as allocated, ascending
	HasPorts bool           // there is a record of node ports
	Refusals []Refusal      // so far, in the order in which they came
	// Pools are the statuses of the pools for load balancers, with the correct values.
	Pools []PoolStatus `json:",omitempty"`
	// Config is the status of the manager's configuration; nil: the manager has none.
	Config *ConfigStatus `json:",omitempty"`
	// Balancing: a process of the manager runs that serves Services of type LoadBalancer.
	Balancing bool `json:",omitempty"`
}

// Service is one that has cluster IPs or node ports.
type Service struct {
	Name     string // NAMESPACE/NAME
	Addrs    []netip.Addr
	Families []string // IPv4, IPv6: one for each of Addrs, in their order
	Ports    []NodePort
	Headless bool // it has no address, and wants none
	// Unported is the number of its ports, including that of its health check, that should have a
	// node port and have none.
	Unported int `json:",omitempty"`
	// Balancer is set for one of type LoadBalancer that the manager serves.
	Balancer *Balancer `json:",omitempty"`
}

// PoolStatus is the number of a pool's addresses of a family according to its status.
type PoolStatus struct {
	Pool, Family   string
	Assigned, Free int // according to the status
	// Used are assigned, and Unused are free.
	Used, Unused int
}

// The statuses of a manager's configuration.
const (
	ConfigValid   = "Valid"
	ConfigInvalid = "Invalid"
	ConfigUnknown = "Unknown" // it has no status
)

// ConfigStatus is the status of a manager's configuration, and its actual state.
type ConfigStatus struct {
	Name  string
	Says  string // ConfigValid, ConfigInvalid or ConfigUnknown
	Why   string // the reported error
	Valid bool   // the manager takes it
}

// Balancer is what a Service of type LoadBalancer requests from the manager, and what it
// has got.
type Balancer struct {
	Families []string     // IPv4, IPv6: one address of each is asked for
	Addrs    []netip.Addr // in its status
	Handle   string       // by which its addresses are claimed
	// From are the addresses and pools that the Service requests its address from, by
	// family. If a family is present with an empty list, it is unknown whether the Service
	// is to have an address of the family.
	From map[string][]netip.Prefix `json:",omitempty"`
	// Terms are the conditions for sharing an address with other Services: the current
	// ones first, then the earlier ones since the addresses were assigned. If empty, the
	// Service shares with no other.
	Terms []Terms `json:",omitempty"`
	// Disallowed: under the present configuration the manager would not assign these
	// addresses. Free is the number of addresses that the manager could assign to a Service
	// without one, or of the family in which it has none; 0 if the manager was not asked.
	Disallowed bool `json:",omitempty"`
	Free       int  `json:",omitempty"`
}

// Terms are the conditions on which a Service shares the address of its load balancer.
type Terms struct {
	Key     string // that the other Services must have as well; "": the address is not shared
	Backend string // "", or the backends that the Services must have in common
	Ports   []NodePort
}

// Equal reports whether two are the same.
func (t Terms) Equal(o Terms) bool {
	return t.Key == o.Key && t.Backend == o.Backend && slices.Equal(t.Ports, o.Ports)
}

// Agree reports whether Services with these terms may share an address.
func (t Terms) Agree(o Terms) bool {
	return t.Key != "" && t.Key == o.Key && t.Backend == o.Backend && !slices.ContainsFunc(t.Ports, func(p NodePort) bool { return slices.Contains(o.Ports, p) })
}

// Shares reports whether two Services may share an address, on the terms of any time since
// they got their addresses: the manager reacts to changed terms only later.
func (b *Balancer) Shares(o *Balancer) bool {
	return slices.ContainsFunc(b.Terms, func(t Terms) bool { return slices.ContainsFunc(o.Terms, t.Agree) })
}

// NodePort is a node port of a Service; each occurs once. The node port of the health check is TCP.
type NodePort struct {
	Port     int
	Protocol string
}

// ServiceClaim is an IPAddress object.
type ServiceClaim struct {
	Addr    netip.Addr
	Service string // NAMESPACE/NAME of the Service that it refers to; "": it refers to another kind of object
	Managed bool   // created by an API server
}

// Refusal is an answer of an API server that it has no address or no node port left, or that
// one is allocated which a Service does not ask for, or which is not.
type Refusal struct {
	At      time.Duration
	Service string
	Ports   bool // node ports; else addresses
	// Allocated: the error says that the address or port is already allocated; otherwise it says
	// that the range is full.
	Allocated bool `json:",omitempty"`
	Free      int  // how many were free at all times while the request was under way
}

// FamilyOf is the IP family of an address, as Services name it.
func FamilyOf(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// Family is 0 of IPv4 and 1 of IPv6.
func Family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// ServiceOf names a Service.
func ServiceOf(name string) Ref { return Ref{RefService, name} }

// NodePortOf names a node port.
func NodePortOf(port int) Ref { return Ref{RefNodePort, strconv.Itoa(port)} }

// Claim is the IPAddress object of an address, nil if there is none.
func (s *Services) Claim(a netip.Addr) *ServiceClaim {
	i, ok := slices.BinarySearchFunc(s.Claims, a, func(c ServiceClaim, a netip.Addr) int { return c.Addr.Compare(a) })
	if !ok {
		return nil
	}
	return &s.Claims[i]
}

// Service is the Service with a name, nil if there is none.
func (s *Services) Service(name string) *Service {
	i, ok := slices.BinarySearchFunc(s.All, name, func(x Service, name string) int { return strings.Compare(x.Name, name) })
	if !ok {
		return nil
	}
	return &s.All[i]
}

// InRange reports whether a ServiceCIDR has the address.
func (s *Services) InRange(a netip.Addr) bool {
	return slices.ContainsFunc(s.Ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}
